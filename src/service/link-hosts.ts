import type { Config } from '../config/config.ts';

/** Where links in notes may lead. */
export function toLinkHosts({ gitlab, sources, publish }: Config): string[] {
  const { konflux, testingFarm } = sources;
  const addresses = [
    gitlab.url,
    ...(konflux?.clusters ?? []).flatMap(({ uiUrl }) => uiUrl ?? []),
    ...(testingFarm ? [testingFarm.artifactsUrl] : []),
  ];
  return [...addresses.map((address) => new URL(address).host), ...publish.linkHosts];
}

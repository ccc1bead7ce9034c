// Secrets that are known by their own shape. Each has a row in tests/unit/redact/rules.test.ts.
import { RUN } from './bytes.ts';
import { type Finding, followed, matchAt, type Rule, toRule } from './rule.ts';

const { word, dotted, tilde, base64, pem } = RUN;

const LOWER = 'abcdefghijklmnopqrstuvwxyz0123456789';

export const PRIVATE_KEY = 'private-key';

export const TOKEN_RULES: readonly Rule[] = [
  toRule(
    'gitlab-token',
    toWords('glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct- glwt-'),
    /gl(?:pat|dt|rtr?|cbt|ptt|ft|imt|agent|oas|soat|ffct|wt)-[\w-]{8}/,
    { run: dotted },
  ),
  toRule('gitlab-token', ['GR1348941'], /GR1348941[\w-]{16}/, { run: word }),
  toRule('gitlab-session', ['_gitlab_session='], /_gitlab_session=[\w-]{16}/, { run: word }),
  toRule('github-token', toWords('ghp_ gho_ ghu_ ghs_ ghr_'), /gh[pousr]_[A-Za-z0-9_]{20}/, { run: dotted }),
  toRule('github-token', ['github_pat_'], /github_pat_\w{20}/, { run: word }),
  toRule('atlassian-token', toWords('ATBB ATATT3 ATCTT3'), /AT(?:BB|ATT3|CTT3)[\w=-]{24}/, { run: base64 }),
  toRule('aws-key', toWords('AKIA ASIA ABIA ACCA'), /A(?:KI|SI|BI|CC)A[A-Z2-7]{16}/, {
    run: word,
    alone: true,
  }),
  toRule('google-key', ['AIza'], /AIza[\w-]{35}/, { run: word }),
  toRule('google-token', ['ya29.'], /ya29\.[\w-]{20}/, { run: dotted, alone: true }),
  toRule('google-secret', ['GOCSPX-'], /GOCSPX-[\w-]{20}/, { run: word }),
  toRule('azure-secret', followed('8Q~', `${LOWER}.~-_`), /[\w~.-]{3}8Q~[\w~.-]{31}/, {
    run: tilde,
    before: 3,
  }),
  toRule(
    'signed-url',
    toWords('X-Amz-Signature= X-Goog-Signature='),
    /X-(?:Amz|Goog)-Signature=[0-9a-f]{32}/i,
    {
      run: word,
    },
  ),
  toRule('signed-url', ['X-Amz-Security-Token='], /X-Amz-Security-Token=[\w%+/=-]{32}/i, { run: base64 }),
  toRule('signed-url', toWords('&sig= ?sig='), /[?&]sig=[\w%+/=-]{32}/i, { run: base64 }),
  toRule('digitalocean-token', toWords('dop_v1_ doo_v1_ dor_v1_'), /do[opr]_v1_[0-9a-f]{64}/, { run: word }),
  toRule('npm-token', ['npm_'], /npm_[A-Za-z0-9]{36}/, { run: word, alone: true }),
  toRule('pypi-token', ['pypi-AgE'], /pypi-AgE[\w-]{40}/, { run: word }),
  toRule('rubygems-token', ['rubygems_'], /rubygems_[0-9a-f]{48}/, { run: word }),
  toRule('nuget-key', followed('oy2', LOWER), /oy2[a-z0-9]{43}/, { run: word, alone: true }),
  toRule('docker-token', toWords('dckr_pat_ dckr_oat_'), /dckr_[po]at_[\w-]{20}/, { run: word }),
  // {"auths": … of a Docker configuration, as a Kubernetes secret holds it.
  toRule('docker-config', ['eyJhdXRocyI6'], /eyJhdXRocyI6[\w+/-]{16}/, { run: base64 }),
  toRule('artifactory-token', toWords('AKCp cmVmdGtu'), /(?:AKCp[A-Za-z0-9]{40}|cmVmdGtu[A-Za-z0-9]{40})/, {
    run: word,
    alone: true,
  }),
  toRule(
    'slack-token',
    toWords('xoxa- xoxb- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs- xapp-'),
    /(?:xapp-\d-[A-Z0-9]{8}|xox[abeoprs][-.][\w-]{10})/,
    {
      run: dotted,
    },
  ),
  toRule('slack-webhook', ['hooks.slack.com/'], /hooks\.slack\.com\/(?:services|workflows)\/[\w/]{20}/, {
    run: base64,
  }),
  toRule(
    'stripe-key',
    toWords('sk_live_ sk_test_ rk_live_ rk_test_'),
    /[sr]k_(?:live|test)_[A-Za-z0-9]{16}/,
    {
      run: word,
    },
  ),
  toRule('webhook-secret', ['whsec_'], /whsec_[\w+/=-]{16}/, { run: base64 }),
  toRule(
    'model-key',
    followed('sk-', LOWER),
    /sk-(?:(?:ant|proj|or|svcacct|admin|lf)-[\w-]{16}|(?=[\w-]{0,32}[A-Z])(?=[\w-]{0,32}[0-9])[\w-]{20})/,
    { run: word, alone: true },
  ),
  toRule('model-key', ['gsk_'], /gsk_[A-Za-z0-9]{40}/, { run: word, alone: true }),
  toRule('huggingface-token', followed('hf_', LOWER), /hf_[A-Za-z0-9]{30}/, { run: word, alone: true }),
  toRule('grafana-token', toWords('glsa_ glc_'), /gl(?:sa|c)_[\w+/=]{32}/, { run: base64 }),
  toRule('vault-token', toWords('hvs. hvb. hvr.'), /hv[sbr]\.[\w-]{20}/, { run: dotted, alone: true }),
  toRule('sendgrid-key', followed('SG.'), /SG\.[\w-]{16,32}\.[\w-]{16}/, { run: word, alone: true }),
  toRule('databricks-token', ['dapi'], /dapi[0-9a-f]{32}/, { run: word, alone: true }),
  toRule('openshift-token', ['sha256~'], /sha256~[\w-]{20}/, { run: word }),
  toRule('terraform-token', ['.atlasv1.'], /[A-Za-z0-9]{14}\.atlasv1\.[\w-]{40}/, { run: word, before: 14 }),
  toRule('age-key', ['AGE-SECRET-KEY-1'], /AGE-SECRET-KEY-1[0-9A-Z]{40}/, { run: word }),
  toRule('sonar-token', toWords('sqp_ squ_ sqa_'), /sq[pua]_[0-9a-f]{40}/, { run: word }),
  toRule('sentry-token', toWords('sntrys_ sntryu_'), /sntry[su]_[\w+/=-]{20}/, { run: base64 }),
  toRule('cloudflare-token', toWords('cfut_ cfat_'), /cf[ua]t_[A-Za-z0-9]{40}/, { run: word }),
  toRule('tailscale-key', ['tskey-'], /tskey-[a-z]{2,20}-[\w-]{16}/, { run: word }),
  toRule('shopify-token', toWords('shpat_ shpca_ shppa_ shpss_'), /shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}/, {
    run: word,
  }),
  toRule('linear-key', ['lin_api_'], /lin_api_\w{32}/, { run: word }),
  toRule('postman-key', ['PMAK-'], /PMAK-[0-9a-f]{24}-[0-9a-f]{34}/, { run: word }),
  toRule('newrelic-key', ['NRAK-'], /NRAK-[A-Z0-9]{27}/, { run: word }),
  toRule('pulumi-token', ['pul-'], /pul-[0-9a-f]{40}/, { run: word, alone: true }),
  // Signed ones have a second part that begins alike; encrypted ones have five parts.
  toRule(
    'jwt',
    followed('eyJ', `${LOWER}+/_-`),
    /eyJ[\w-]{8,1000}\.(?:eyJ[\w-]{2}|[\w-]{0,800}\.[\w-]{10,100}\.[\w-]{2})/,
    { run: dotted, alone: true },
  ),
  toRule(PRIVATE_KEY, ['-BEGIN'], /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/, {
    run: pem,
    before: 4,
  }),
  // As in a kubeconfig, in secrets of Kubernetes and in variables of one line.
  { kind: PRIVATE_KEY, words: ['LS0tLS1CRUdJTi'], find: findEncodedKey, run: pem },
];

const ENCODED_BEGINNING = /LS0tLS1CRUdJTi[A-Za-z0-9+/\r\n]{34,100}/y;

/** Certificates and public keys begin alike. */
function findEncodedKey(text: string, at: number): Finding | null {
  const [beginning = ''] = matchAt(ENCODED_BEGINNING, text, at) ?? [];
  const isPrivate = /^-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY/.test(
    Buffer.from(beginning, 'base64').toString('latin1'),
  );
  return isPrivate ? { start: at, end: at + 14, run: pem } : null;
}

function toWords(text: string): string[] {
  return text.split(' ');
}

import { PermanentError } from '../errors.ts';
import type { Costs, Reservation } from './records.ts';

/** Costs that end with the process, for a run that shares its limits with nobody. */
export function createMemoryCosts(): Costs {
  const reservations = new Map<string, Reservation & { isSettled: boolean }>();
  const totals = new Map<string, number>();
  const totalOf = (scope: string): number => totals.get(scope) ?? 0;
  const add = ({ scopes }: Reservation, microUsd: number): void => {
    for (const { name } of scopes) totals.set(name, totalOf(name) + microUsd);
  };
  return {
    async reserve(reservation) {
      const { id, microUsd, scopes } = reservation;
      if (reservations.has(id)) return { granted: true };
      const full = scopes.find(({ name, capMicroUsd }) => totalOf(name) + microUsd > capMicroUsd);
      if (full) {
        const { name: scope, capMicroUsd } = full;
        return { granted: false, scope, capMicroUsd, usedMicroUsd: totalOf(scope) };
      }
      reservations.set(id, { ...reservation, isSettled: false });
      add(reservation, microUsd);
      return { granted: true };
    },

    async settle(id, microUsd) {
      const reservation = reservations.get(id);
      if (!reservation) throw new PermanentError(`nothing was reserved as '${id}'`);
      if (reservation.isSettled) return;
      add(reservation, microUsd - reservation.microUsd);
      reservations.set(id, { ...reservation, microUsd, isSettled: true });
    },

    used: async (scope) => totalOf(scope),
  };
}

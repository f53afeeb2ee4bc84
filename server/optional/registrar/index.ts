import type { Clock } from '../../lib/clock.ts'
import { createLocalRegistrar } from './local.ts'
import { createPorkbunRegistrar, type PorkbunOptions } from './porkbun.ts'
import type { Registrar, Registrars } from './registrar.ts'

/** The registrar that sells domains, with its API keys; `off`: none. */
export type RegistrarChoice = { name: 'local' } | { name: 'off' } | ({ name: 'porkbun' } & Omit<PorkbunOptions, 'clock'>)

/** The drivers by name. The local driver is always present, because domains bought from it must still renew. */
export function createRegistrars(choice: RegistrarChoice, clock: Clock): Registrars {
  const drivers: Record<string, Registrar> = { local: createLocalRegistrar(clock) }
  if (choice.name === 'porkbun') drivers.porkbun = createPorkbunRegistrar({ ...choice, clock })
  return { active: drivers[choice.name] ?? null, get: (name) => (Object.hasOwn(drivers, name) ? drivers[name] : undefined) }
}

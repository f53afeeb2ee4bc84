import type { Clock } from '../lib/clock.ts'
import { createLocalRegistrar } from './local.ts'
import { createPorkbunRegistrar, type PorkbunOptions } from './porkbun.ts'
import type { Registrar, Registrars } from './registrar.ts'

/** Which registrar sells: `off` is none. Keys are there for the one that needs them. */
export type RegistrarChoice = { name: 'local' } | { name: 'off' } | ({ name: 'porkbun' } & Omit<PorkbunOptions, 'clock'>)

/** The drivers by name. What was bought locally is kept up whoever sells now. */
export function createRegistrars(choice: RegistrarChoice, clock: Clock): Registrars {
  const drivers: Record<string, Registrar> = { local: createLocalRegistrar(clock) }
  if (choice.name === 'porkbun') drivers.porkbun = createPorkbunRegistrar({ ...choice, clock })
  return { active: drivers[choice.name] ?? null, get: (name) => (Object.hasOwn(drivers, name) ? drivers[name] : undefined) }
}

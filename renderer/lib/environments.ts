import type { EnvVar, ProjectEnvVar } from '../../server/contract/env-vars.ts'

export type Environment = EnvVar['environment']

/** In page order. `name` is the form value. */
export const environments = [
  { name: 'both', value: null, title: 'Production and previews', about: 'Available in every deployment.' },
  { name: 'production', value: 'production', title: 'Production', about: 'Override variables of the same name above.' },
  { name: 'preview', value: 'preview', title: 'Previews', about: 'Override variables of the same name above.' },
] as const satisfies { name: string; value: Environment; title: string; about: string }[]

export type EnvironmentName = (typeof environments)[number]['name']

export function environmentFromName(name: EnvironmentName): Environment {
  return environments.find((one) => one.name === name)?.value ?? null
}

/** Label within a sentence. */
export function environmentLabel(environment: Environment): string {
  return environment === null ? 'production and previews' : environment === 'production' ? 'production' : 'previews'
}

/** Variables of an environment's deployments. For a duplicate key, the environment-specific value wins. */
export function effectiveVariables(variables: readonly ProjectEnvVar[], target: 'production' | 'preview'): ProjectEnvVar[] {
  const effective = new Map(variables.filter(({ environment }) => environment === null).map((one) => [one.key, one]))
  for (const one of variables) if (one.environment === target) effective.set(one.key, one)
  return [...effective.values()].toSorted((a, b) => (a.key < b.key ? -1 : 1))
}

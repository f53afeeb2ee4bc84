export type Environment = Record<string, string | undefined>

/** The value of a variable. Windows ignores the case of variable names, but a copy of its environment does not: PATH is usually `Path`. */
export function variableOf(environment: Environment, name: string, platform: NodeJS.Platform = process.platform): string | undefined {
  const value = environment[name]
  if (value !== undefined || platform !== 'win32') return value
  return Object.entries(environment).find(([other, found]) => found !== undefined && other.toUpperCase() === name.toUpperCase())?.[1]
}

/** The listed variables that the environment contains. */
export function pickVariables(environment: Environment, names: readonly string[], platform?: NodeJS.Platform): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = variableOf(environment, name, platform)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

/**
 * A part of a value such as `postgres://app:${DB_PASSWORD:-secret}@db/app`: text, or a variable of the project. It stays unfilled in a
 * `ProjectConfig`, because variables are secret and change without a new version of the source.
 */
export type TemplatePart = string | VariablePart

export interface VariablePart {
  variable: string
  /**
   * The operators of a shell and of compose: `-` takes `word` if the variable is unset, `:-` also if it is empty; `+` and `:+` take `word` if it is
   * set (and not empty); null takes the variable, or nothing. A variable that must be set (`${NAME:?}`) is in `required_variables`.
   */
  operator: '-' | ':-' | '+' | ':+' | null
  word: TemplatePart[]
}

/**
 * The variables that the file sets for a service, as text. They override the project's, which are `variables`. One that only passes on a variable
 * (`NAME: ${NAME}`) is left out while the project does not have it.
 */
export function fillEnvironment(
  service: { environment: Record<string, string>; environment_templates: Record<string, TemplatePart[]> },
  variables: Readonly<Record<string, string>>,
): Record<string, string> {
  const filled = Object.entries(service.environment_templates)
    .filter(([, parts]) => !isUnset(parts, variables))
    .map(([name, parts]) => [name, fillTemplate(parts, variables)] as const)
  return { ...service.environment, ...Object.fromEntries(filled) }
}

function isUnset(parts: TemplatePart[], variables: Readonly<Record<string, string>>): boolean {
  const [part] = parts
  return parts.length === 1 && typeof part === 'object' && part.operator === null && !Object.hasOwn(variables, part.variable)
}

export function fillTemplate(parts: TemplatePart[], variables: Readonly<Record<string, string>>): string {
  return parts.map((part) => (typeof part === 'string' ? part : fillVariable(part, variables))).join('')
}

function fillVariable({ variable, operator, word }: VariablePart, variables: Readonly<Record<string, string>>): string {
  const value = Object.hasOwn(variables, variable) ? variables[variable] : undefined
  const isSet = operator?.startsWith(':') ? value !== undefined && value !== '' : value !== undefined
  if (operator === '+' || operator === ':+') return isSet ? fillTemplate(word, variables) : ''
  return operator !== null && !isSet ? fillTemplate(word, variables) : (value ?? '')
}

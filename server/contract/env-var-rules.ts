import { limits } from './limits.ts'

/** What a variable may be called, in plain functions: the dashboard says it before anything is sent, without the schema library. */
export const keyPattern = /^[A-Za-z_][A-Za-z0-9_]*$/
export const keyPatternText = 'Use letters, digits and underscores, with no digit at the start.'
export const reservedText = 'Names that begin with HOMEPORT_ are set by the platform. Choose another.'
export const nulText = 'A value has no NUL character.'

export function isReserved(key: string): boolean {
  return /^homeport_/i.test(key)
}

/** What is wrong with a key, if anything. */
export function keyFault(key: string): string | undefined {
  if (key.length > limits.env_var_key.max) return `A name has ${limits.env_var_key.max} characters at most; this one has ${key.length}.`
  if (!keyPattern.test(key)) return keyPatternText
  return isReserved(key) ? reservedText : undefined
}

export function valueFault(value: string): string | undefined {
  if (value.includes('\0')) return nulText
  if (value.length <= limits.env_var_value) return undefined
  return `A value has ${limits.env_var_value.toLocaleString('en')} characters at most; this one has ${value.length.toLocaleString('en')}.`
}

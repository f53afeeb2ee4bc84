import { limits } from './limits.ts'

/** What a variable may be called, in plain functions: the dashboard says it before anything is sent, without the schema library. */
export const keyPattern = /^[A-Za-z_][A-Za-z0-9_]*$/
export const keyPatternMessage = 'Use letters, digits and underscores, with no digit at the start.'
export const reservedKeyMessage = 'Names that begin with HOMEPORT_ are set by the platform. Choose another.'
export const nulMessage = 'A value has no NUL character.'

export function isReservedKey(key: string): boolean {
  return /^homeport_/i.test(key)
}

/** What is wrong with a key, if anything. */
export function validateKey(key: string): string | undefined {
  if (key.length > limits.env_var_key.max) return `A name has ${limits.env_var_key.max} characters at most; this one has ${key.length}.`
  if (!keyPattern.test(key)) return keyPatternMessage
  return isReservedKey(key) ? reservedKeyMessage : undefined
}

export function validateValue(value: string): string | undefined {
  if (value.includes('\0')) return nulMessage
  if (value.length <= limits.env_var_value) return undefined
  return `A value has ${limits.env_var_value.toLocaleString('en')} characters at most; this one has ${value.length.toLocaleString('en')}.`
}

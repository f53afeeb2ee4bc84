import { limits } from './limits.ts'

/** The rules for variable names and values, without zod, so that the dashboard can check them before it sends anything. */
export const keyPattern = /^[A-Za-z_][A-Za-z0-9_]*$/
export const keyPatternMessage = 'Use letters, digits and underscores, with no digit at the start.'
export const reservedKeyMessage = 'Names that start with HOMEPORT_ are reserved. Choose another name.'
export const nulMessage = 'A value must not contain a NUL character.'

export function isReservedKey(key: string): boolean {
  return /^homeport_/i.test(key)
}

/** The problem with a key, or undefined. */
export function validateKey(key: string): string | undefined {
  if (key.length > limits.env_var_key.max) return `A name has at most ${limits.env_var_key.max} characters; this one has ${key.length}.`
  if (!keyPattern.test(key)) return keyPatternMessage
  return isReservedKey(key) ? reservedKeyMessage : undefined
}

export function validateValue(value: string): string | undefined {
  if (value.includes('\0')) return nulMessage
  if (value.length <= limits.env_var_value) return undefined
  return `A value has at most ${limits.env_var_value.toLocaleString('en')} characters; this one has ${value.length.toLocaleString('en')}.`
}

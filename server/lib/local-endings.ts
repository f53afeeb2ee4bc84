/** Endings that are set aside for use at home: nobody on the internet can own a name under them (RFC 6761, RFC 8375, and ICANN's `.internal`). */
export const localEndings = ['test', 'internal', 'home.arpa'] as const

/** Whether a name lies under one of them. */
export const isUnderLocalEnding = (name: string): boolean => localEndings.some((ending) => name.endsWith(`.${ending}`))

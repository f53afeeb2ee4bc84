/** Comments, strings, quoted names and dollar-quoted texts, which hold no keywords, and words. */
const tokens = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[\s\S]*?\$\1\$|[a-z_]\w*/gi

const destructiveWords = new Set(['alter', 'call', 'delete', 'do', 'drop', 'execute', 'merge', 'truncate', 'update'])

/** Whether a statement may delete or replace data. Rather too often than too rarely; what a function does is not known. */
export const isDestructive = (sql: string): boolean => (sql.match(tokens) ?? []).some((token) => destructiveWords.has(token.toLowerCase()))

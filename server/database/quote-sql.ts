export const quoteIdentifier = (name: string): string => `"${name.replaceAll('"', '""')}"`

export const quoteTable = ({ schema, name }: { schema: string; name: string }): string => `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`

/** The same with either setting of standard_conforming_strings. */
export function quoteLiteral(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`
  return text.includes('\\') ? `E${quoted.replaceAll('\\', '\\\\')}` : quoted
}

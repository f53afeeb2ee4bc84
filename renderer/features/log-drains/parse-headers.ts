/** Headers as lines of `Name: value`; undefined if a line is none. */
export function parseHeaders(text: string): { name: string; value: string }[] | undefined {
  const headers = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name, value] = /^\s*([^\s:]+)\s*:\s*(.*?)\s*$/.exec(line) ?? []
      return name !== undefined && value ? { name, value } : undefined
    })
  return headers.every((header) => header !== undefined) ? headers : undefined
}

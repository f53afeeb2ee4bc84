/** A slug made of any name: `My App (2)` becomes `my-app-2`. */
export function slugFor(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 50)
    .replace(/-+$/, '')
  if (plain.length >= 3) return plain
  return plain === '' ? 'my-app' : `${plain}-app`
}

/** Creates a slug from a name: `My App (2)` becomes `my-app-2`. */
export function slugify(name: string): string {
  const slug = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 50)
    .replace(/-+$/, '')
  if (slug.length >= 3) return slug
  return slug === '' ? 'my-app' : `${slug}-app`
}

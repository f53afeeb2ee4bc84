import { findRuntimeTraits } from './runtimes.ts'

const checkLabels: Record<string, string> = {
  git: 'Git',
  'port api': 'API and dashboard port',
  'port edge': 'Apps port',
  'port https': 'Apps port, HTTPS',
  'dns server': 'DNS server',
}

/** Label of a health check; an unknown check shows its own name. */
export function checkLabel(name: string): string {
  const [, kind, detail] = /^(name|bought name|certificates|runtime|databases) (.+)$/.exec(name) ?? []
  if (detail !== undefined) {
    if (kind === 'certificates') return `Certificates (${detail})`
    if (kind === 'databases')
      return detail.replace(/^\S+(?: (\d+))?$/, (_, major?: string) => `Database server${major === undefined ? '' : ` (PostgreSQL ${major})`}`)
    return kind === 'runtime' ? (findRuntimeTraits(detail)?.label ?? detail) : detail
  }
  return checkLabels[name] ?? name.charAt(0).toUpperCase() + name.slice(1)
}

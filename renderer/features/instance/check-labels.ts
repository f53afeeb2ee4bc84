import { formatDateTime } from '../../lib/format.ts'

const checkLabels: Record<string, string> = {
  'runtime docker': 'Docker',
  'runtime process': 'Processes',
  git: 'Git',
  'port api': 'API and dashboard port',
  'port edge': 'Apps port',
  'databases docker': 'Database server',
  'databases process': 'Database server',
  'dns server': 'DNS server',
}

/** Label of a health check; an unknown check shows its own name. */
export function checkLabel(name: string): string {
  const [, kind, detail] = /^(name|bought name|certificates) (.+)$/.exec(name) ?? []
  if (kind !== undefined && detail !== undefined) return kind === 'certificates' ? `Certificates (${detail})` : detail
  return checkLabels[name] ?? name.charAt(0).toUpperCase() + name.slice(1)
}

/** A message of the platform with its timestamps in local time. */
export function localizeTimes(text: string): string {
  return text.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z/g, formatDateTime)
}

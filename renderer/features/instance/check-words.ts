import { exactTime } from '../../ui/format.ts'

const names: Record<string, string> = {
  'runtime docker': 'Docker',
  'runtime process': 'Processes',
  git: 'Git',
  'port api': 'API and dashboard port',
  'port edge': 'Apps port',
  'databases docker': 'Database server',
  'databases process': 'Database server',
  'dns server': 'DNS server',
}

/** What a person calls what was checked; a check that this page does not know has its own name. */
export function checkName(name: string): string {
  const [, kind, of] = /^(name|bought name|certificates) (.+)$/.exec(name) ?? []
  if (kind !== undefined && of !== undefined) return kind === 'certificates' ? `Certificates (${of})` : of
  return names[name] ?? name.charAt(0).toUpperCase() + name.slice(1)
}

/** A sentence of the platform, with its times as the reader tells them. */
export function withLocalTimes(text: string): string {
  return text.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z/g, exactTime)
}

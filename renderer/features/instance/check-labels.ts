import type { DoctorCheckWithHelp } from '../../../server/contract/instance.ts'
import { findRuntimeTraits } from '../../../server/contract/runtimes.ts'
import { formatDateTime } from '../../lib/format.ts'

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

/** A message of the platform with its timestamps in local time. */
export function localizeTimes(text: string): string {
  return text.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z/g, formatDateTime)
}

/** Problems that differ only in what they are about become one line. */
export function mergeChecks(checks: readonly DoctorCheckWithHelp[]): { check: DoctorCheckWithHelp; labels: string[] }[] {
  const merged = new Map<string, { check: DoctorCheckWithHelp; labels: string[] }>()
  for (const check of checks) {
    const label = checkLabel(check.name)
    const withoutSubject = (text: string | null) => text?.replaceAll(label, '') ?? ''
    const key = check.status === 'ok' ? check.name : `${check.status} ${withoutSubject(check.message)} ${withoutSubject(check.hint)}`
    const found = merged.get(key)
    if (found) found.labels.push(label)
    else merged.set(key, { check, labels: [label] })
  }
  return [...merged.values()]
}

import type { DoctorCheckWithHelp } from '../../../server/contract/instance.ts'
import { checkLabel } from '../../../server/contract/check-labels.ts'
import { formatDateTime } from '../../lib/format.ts'

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

import { Link } from 'wouter'
import type { FoundLogLine } from '../../../server/contract/log-search.ts'
import { stripAnsi } from '../../lib/ansi.ts'
import { formatDateTime } from '../../lib/format.ts'
import { replaceInvisible, sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import { highlightWords } from './highlight-words.ts'
import styles from './log-search.module.css'

const shownCharacters = 600

/** Lines, newest first. Each leads to its place in its log. */
export function FoundLines({ lines, words }: { lines: FoundLogLine[]; words: string }) {
  return (
    <ul>
      {lines.map((line) => (
        <li key={`${line.project.id} ${line.log} ${line.branch} ${line.service} ${line.deployment_id} ${line.record}`} className={styles.line}>
          <Link href={logPath(line)} className={styles.link}>
            <span className={`mono ${styles.text}`} data-level={line.level}>
              {highlightWords(replaceInvisible(stripAnsi(line.line)).slice(0, shownCharacters), words).map(({ text, is_match }, index) =>
                is_match ? <mark key={index}>{text}</mark> : text,
              )}
            </span>
            <span className={`text-muted ${styles.facts}`}>{facts(line)}</span>
          </Link>
        </li>
      ))}
    </ul>
  )
}

const levelNames = { error: 'Error', warn: 'Warning', info: null } as const

function facts({ time, project, log, target, branch, service, level }: FoundLogLine): string {
  const names = [
    formatDateTime(time),
    project.name,
    log === 'build' ? 'Build' : null,
    target === 'preview' ? (branch ?? 'Closed preview') : null,
    service,
    levelNames[level],
  ]
  return sanitizeForDisplay(names.filter((name) => name !== null).join(' · '))
}

function logPath({ project, log, branch, service, deployment_id, record }: FoundLogLine): string {
  const query = new URLSearchParams({ around: String(record) })
  if (log === 'build') query.set('deployment', deployment_id ?? '')
  else {
    if (branch !== null) query.set('branch', branch)
    if (service !== null) query.set('service', service)
  }
  return `/projects/${project.slug}/logs?${query}`
}

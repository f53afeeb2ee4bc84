import { Bot, CalendarClock, CircleAlert, CircleCheck, GitCommitHorizontal, type LucideIcon, Ship, UserRound } from 'lucide-react'
import { Link } from 'wouter'
import type { ActivityActor } from '../../../server/contract/activity-actors.ts'
import type { ActivityEntry } from '../../../server/contract/activity.ts'
import { activitySentence } from '../../../server/contract/activity-sentences.ts'
import { RelativeTime } from '../../components/time.tsx'
import { activityPath, failureText, hasFailed } from '../../lib/activity-link.ts'
import { sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import styles from './activity.module.css'

const actorIcons: Record<ActivityActor, LucideIcon> = {
  user: UserRound,
  token: Bot,
  push: GitCommitHorizontal,
  schedule: CalendarClock,
  system: Ship,
}

const viaLabels = { dashboard: 'Dashboard', cli: 'Command line', agent: 'Coding agent', api: 'API' } as const

/** Entries, newest first. `hasProjects`: each names its project. */
export function ActivityList({ entries, myId, hasProjects }: { entries: ActivityEntry[]; myId: string | undefined; hasProjects: boolean }) {
  return (
    <ul>
      {entries.map((entry) => (
        <li key={entry.id} className={styles.entry}>
          <EntryIcon entry={entry} />
          <span className={styles.what}>
            <Sentence entry={entry} myId={myId} />
            <Facts entry={entry} hasProjects={hasProjects} />
          </span>
          <span className={`text-subtle ${styles.when}`}>
            <RelativeTime at={entry.time} />
          </span>
        </li>
      ))}
    </ul>
  )
}

function EntryIcon({ entry }: { entry: ActivityEntry }) {
  const isReady = /\.(?:ready|verified)$/.test(entry.action) && entry.actor.kind !== 'user'
  const Icon = hasFailed(entry) ? CircleAlert : isReady ? CircleCheck : actorIcons[entry.actor.kind]
  return <Icon size={16} aria-hidden className={hasFailed(entry) ? styles.failed : isReady ? styles.ready : styles.icon} />
}

function Sentence({ entry, myId }: { entry: ActivityEntry; myId: string | undefined }) {
  const path = activityPath(entry)
  const text = sanitizeForDisplay(activitySentence(entry, myId))
  return path === null ? <span>{text}</span> : <Link href={path}>{text}</Link>
}

function Facts({ entry: { project, details, via, actor, client_ip }, hasProjects }: { entry: ActivityEntry; hasProjects: boolean }) {
  const facts = [
    hasProjects && project?.slug,
    details.failure !== null && failureText(details.failure),
    details.commit_sha?.slice(0, 7),
    actor.kind === 'token' && actor.email,
    via !== null && viaLabels[via],
    client_ip !== null && client_ip !== '127.0.0.0' && client_ip,
  ].filter((fact): fact is string => typeof fact === 'string')
  return facts.length > 0 && <span className={`text-muted ${styles.facts}`}>{sanitizeForDisplay(facts.join(' · '))}</span>
}

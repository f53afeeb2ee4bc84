import { limits } from '../contract/limits.ts'
import type { PublicCertificate } from '../contract/network.ts'
import { type Clock, isoTime, type Timer } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { NotificationTargetRow } from '../store/notification-tables.ts'
import { listEnabledTargets, listInstanceTargets, listTargetsOfProject, listUnnotifiedIncidents } from '../store/notifications.ts'
import { findProject, listProjectIdsOfAccount } from '../store/projects.ts'
import type { Db, Tx } from '../store/store.ts'
import type { ProjectRow } from '../store/tables.ts'
import { findInstanceOwner } from '../store/users.ts'
import { type OutboxContext, reportIncident } from './outbox.ts'
import { certificateMessage, diskMessage, errorRateMessage, publicCertificateMessage } from './payload.ts'
import { recordCrashState, rulesOf } from './record-events.ts'

export interface NotificationMonitorOptions {
  db: Db
  clock: Clock
  log: Log
  dashboardUrl(): string
  /** Counts of a project since a time (seconds since 1970). */
  readMetrics(projectId: string, ts: number): { ts: number; requests: number; status_5xx: number }[]
  readFreeDisk(): Promise<number>
  /** When the certificate authority is replaced, in milliseconds since 1970; undefined without one. */
  findAuthorityReplacement(): Promise<number | undefined>
  /** Certificates of public names, and how the last attempts to get them went. */
  listPublicCertificates(): PublicCertificate[]
}

const interval_ms = 60_000
/** As the doctor reports it; it is over with a little more, so that it does not begin again at once. */
const lowDisk = { from_bytes: 5 * 1024 ** 3, until_bytes: 6 * 1024 ** 3 }
/** The first failures of a new name are often a DNS record that is not visible everywhere yet. */
const reportedFailures = 3
const certificateWarning_ms = 30 * 24 * 3_600_000

/** Checks once a minute what has no event: error rates, the disk and the certificate authority. */
export function createNotificationMonitor(options: NotificationMonitorOptions) {
  const { db, clock, log } = options
  let running: Promise<void> | undefined
  let timer: Timer | undefined
  let isDiskLow = false

  const checkErrorRates = async (): Promise<void> => {
    const now = clock.now()
    const watched = await db.read(listWatchedProjects)
    for (const { project, targets } of watched) {
      const found = targets.flatMap((target) => {
        const rule = rulesOf(target).error_rate
        if (!rule) return []
        const rows = options.readMetrics(project.id, Math.floor(now / 1000) - rule.minutes * 60)
        const requests = rows.reduce((sum, row) => sum + row.requests, 0)
        const errors = rows.reduce((sum, row) => sum + row.status_5xx, 0)
        return [{ target, state: { ...rule, requests, errors } }]
      })
      if (found.length > 0)
        await db.write((tx) => {
          for (const { target, state } of found) reportErrorRate(tx, target, project, state, outboxContext())
        })
    }
  }

  const checkInstance = async (): Promise<void> => {
    const targets = await db.read((tx) => listInstanceTargets(tx, findInstanceOwner(tx)?.account_id ?? ''))
    const diskTargets = targets.filter((target) => rulesOf(target).disk)
    const certificateTargets = targets.filter((target) => rulesOf(target).certificate)
    if (diskTargets.length > 0) {
      const free = await options.readFreeDisk()
      isDiskLow = free < (isDiskLow ? lowDisk.until_bytes : lowDisk.from_bytes)
      const report = {
        event: 'disk.low' as const,
        subject: 'disk',
        is_open: isDiskLow,
        begin: () => diskMessage('disk.low', free),
        end: () => diskMessage('disk.recovered', free),
      }
      await db.write((tx) => diskTargets.forEach((target) => reportIncident(tx, target, report, outboxContext())))
    }
    if (certificateTargets.length > 0)
      await db.write((tx) => {
        for (const certificate of options.listPublicCertificates()) {
          const report = {
            event: 'certificate.expiring' as const,
            subject: certificate.name,
            is_open: certificate.failures >= reportedFailures,
            begin: () => publicCertificateMessage('certificate.expiring', certificate),
            end: () => publicCertificateMessage('certificate.renewed', certificate),
          }
          for (const target of certificateTargets) reportIncident(tx, target, report, outboxContext())
        }
      })
    const replacedAt = certificateTargets.length > 0 ? await options.findAuthorityReplacement() : undefined
    if (replacedAt === undefined) return
    const replaced_at = isoTime(replacedAt)
    const report = {
      event: 'certificate.expiring' as const,
      subject: 'authority',
      is_open: replacedAt - clock.now() < certificateWarning_ms,
      begin: () => certificateMessage('certificate.expiring', replaced_at),
      end: () => certificateMessage('certificate.renewed', replaced_at),
    }
    await db.write((tx) => certificateTargets.forEach((target) => reportIncident(tx, target, report, outboxContext())))
  }

  /** Crashes that began too soon after the last notification, and last. */
  const repeatCrashes = async (): Promise<void> => {
    const waiting = await db.read((tx) => listUnnotifiedIncidents(tx, 'app.crashed'))
    if (waiting.length > 0)
      await db.write((tx) => {
        for (const { target_id, subject } of waiting) {
          const project = findProject(tx, subject)
          const target = project && listTargetsOfProject(tx, project).find(({ id }) => id === target_id)
          if (target) recordCrashState(tx, target, project, outboxContext())
        }
      })
  }

  const outboxContext = (): OutboxContext => ({ now: clock.now(), dashboard_url: options.dashboardUrl() })
  const check = async (): Promise<void> => {
    for (const one of [checkErrorRates, checkInstance, repeatCrashes])
      await one().catch((error: unknown) => log.warn('notification_check_failed', { error }))
  }
  const runCheck = () => void (running ??= check().finally(() => (running = undefined)))

  return {
    start() {
      timer = clock.setInterval(runCheck, interval_ms).unref()
      runCheck()
    },
    async close() {
      timer?.cancel()
      await running
    },
  }
}

/** The projects whose error rate a target is about. */
function listWatchedProjects(tx: Tx): { project: ProjectRow; targets: NotificationTargetRow[] }[] {
  const withRule = listEnabledTargets(tx).filter((target) => rulesOf(target).error_rate !== null)
  const ids = new Set(
    withRule.flatMap(({ project_id, account_id }) => (project_id === null ? listProjectIdsOfAccount(tx, account_id) : [project_id])),
  )
  return [...ids].flatMap((id) => {
    const project = findProject(tx, id)
    const targets = project ? listTargetsOfProject(tx, project).filter((target) => rulesOf(target).error_rate !== null) : []
    return project && targets.length > 0 ? [{ project, targets }] : []
  })
}

function reportErrorRate(
  tx: Tx,
  target: NotificationTargetRow,
  project: ProjectRow,
  state: { percent: number; minutes: number; requests: number; errors: number },
  context: OutboxContext,
): void {
  const isExceeded = state.requests >= limits.error_rate.requests && state.errors / state.requests > state.percent / 100
  reportIncident(
    tx,
    target,
    {
      event: 'error_rate.exceeded',
      subject: project.id,
      is_open: isExceeded,
      begin: () => errorRateMessage('error_rate.exceeded', project, state),
      end: () => errorRateMessage('error_rate.recovered', project, state),
    },
    context,
  )
}

import { beforeEach, describe, expect, test } from 'vitest'
import type { PublicCertificate } from '../../server/contract/network.ts'
import type { NotificationRules } from '../../server/contract/notifications.ts'
import { defaultNotificationRules } from '../../server/contract/notification-defaults.ts'
import { createNotificationMonitor } from '../../server/notifications/monitor.ts'
import { createEventRecorder } from '../../server/notifications/record-events.ts'
import { isoTime } from '../../server/lib/clock.ts'
import { silentLog } from '../../server/lib/log.ts'
import { recordProjectActivity } from '../../server/store/activity.ts'
import { insertDeployment } from '../../server/store/deployments.ts'
import { insertNotificationTarget, listNotificationDeliveries } from '../../server/store/notifications.ts'
import { findProject, insertProject, updateProject } from '../../server/store/projects.ts'
import type { Db } from '../../server/store/store.ts'
import type { DeploymentRow } from '../../server/store/tables.ts'
import { insertUserWithAccount } from '../../server/store/users.ts'
import { deploymentRow, projectRow } from '../support/database-rows.ts'
import { openMemoryDatabase } from '../support/memory-database.ts'
import { createTestClock, type TestClock } from '../support/test-clock.ts'

/* Which event leads to which notification. Sending is tested in delivery.test.ts. */

const minute = 60_000
const scope = { account_id: 'acc_1', project_id: null }
let clock: TestClock
let db: Db
let deployments = 0

beforeEach(async () => {
  clock = createTestClock({ frozen_at: '2026-01-31T12:00:00.000Z' })
  db = await openMemoryDatabase(clock)
  db.beforeCommit(createEventRecorder(clock, silentLog, () => 'http://127.0.0.1:4600/app/'))
  const created_at = isoTime(clock.now())
  await db.write((tx) => {
    insertUserWithAccount(tx, {
      user: { id: 'usr_1', account_id: 'acc_1', email: 'ada@example.com', email_verified: 1, is_instance_owner: 1, created_at },
      account: { id: 'acc_1', plan: 'pro', has_payment_method: 0, created_at },
    })
    for (const slug of ['shop', 'blog']) insertProject(tx, projectRow({ id: `prj_${slug}`, account_id: 'acc_1', name: slug, slug }))
  })
})

const addTarget = (rules: Partial<NotificationRules> = {}, own: { id?: string; project_id?: string; project_ids?: string[] } = {}) =>
  db.write((tx) =>
    insertNotificationTarget(tx, {
      id: own.id ?? 'ntt_1',
      account_id: 'acc_1',
      project_id: own.project_id ?? null,
      type: 'webhook',
      name: 'hook',
      sealed_address: Buffer.from('x'),
      sealed_secret: null,
      is_trusted: 1,
      rules: JSON.stringify({ ...defaultNotificationRules, ...rules }),
      project_ids: own.project_ids ? JSON.stringify(own.project_ids) : null,
      is_enabled: 1,
      created_at: isoTime(clock.now()),
    }),
  )

const end = async (status: 'failed' | 'ready', own: Partial<DeploymentRow> = {}) => {
  await clock.advance(1_000)
  const id = `dpl_${++deployments}`
  await db.write((tx) => {
    const row = deploymentRow({ id, project_id: own.project_id ?? 'prj_shop' }, isoTime(clock.now()))
    insertDeployment(tx, { ...row, ...own, status }, [])
    tx.publish({ type: 'deployment_changed', id })
  })
  return id
}
const changeAgain = (id: string) => db.write((tx) => tx.publish({ type: 'deployment_changed', id }))
const setCrashed = (isCrashed: boolean, status: 'live' | 'inactive' = 'live') =>
  db.write((tx) => {
    updateProject(tx, 'prj_shop', isCrashed ? { crashed_at: isoTime(clock.now()), status: 'crashed' } : { crashed_at: null, status })
    tx.publish({ type: 'project_changed', id: 'prj_shop' })
  })

/** The events that were queued since the last call, oldest first. */
let known = 0
beforeEach(() => void (known = 0))
const queued = async (): Promise<string[]> => {
  const rows = await db.read((tx) => listNotificationDeliveries(tx, scope, { before: undefined, limit: 100 }))
  const names = rows.toReversed().map(({ event }) => event)
  const fresh = names.slice(known)
  known = names.length
  return fresh
}

describe('deployments', () => {
  test('each failure once, and the end of the failures once', async () => {
    await addTarget()
    await end('ready')
    expect(await queued()).toEqual([])
    const first = await end('failed')
    await changeAgain(first)
    await end('failed')
    expect(await queued()).toEqual(['deployment.failed', 'deployment.failed'])
    const ready = await end('ready')
    await changeAgain(ready)
    await end('ready')
    expect(await queued()).toEqual(['deployment.recovered'])
  })

  test('an earlier deployment that changes does not end a failure', async () => {
    await addTarget()
    const ready = await end('ready')
    await end('failed')
    await changeAgain(ready)
    expect(await queued()).toEqual(['deployment.failed'])
  })

  test('production and each branch fail on their own', async () => {
    await addTarget()
    await end('failed', { target: 'preview', branch: 'feature' })
    await end('ready')
    expect(await queued()).toEqual(['deployment.failed'])
    await end('ready', { target: 'preview', branch: 'feature' })
    expect(await queued()).toEqual(['deployment.recovered'])
  })

  test('a target for every deployment gets a recovery once', async () => {
    await addTarget({ deployment_ready: true })
    await end('failed')
    await end('ready')
    expect(await queued()).toEqual(['deployment.failed', 'deployment.ready'])
  })

  test('nothing about what ended before the target existed, or is old', async () => {
    const [before, old] = [await end('failed'), await end('failed', { finished_at: '2026-01-01T00:00:00.000Z' })]
    await clock.advance(1_000)
    await addTarget()
    await changeAgain(before)
    await changeAgain(old)
    expect(await queued()).toEqual([])
  })

  test('only the chosen projects, and the own one', async () => {
    await addTarget({}, { project_ids: ['prj_blog'] })
    await addTarget({}, { id: 'ntt_2', project_id: 'prj_blog' })
    await end('failed')
    expect(await queued()).toEqual([])
    await end('failed', { project_id: 'prj_blog' })
    expect(await queued()).toEqual(['deployment.failed'])
    const own = await db.read((tx) =>
      listNotificationDeliveries(tx, { account_id: 'acc_1', project_id: 'prj_blog' }, { before: undefined, limit: 9 }),
    )
    expect(own).toHaveLength(1)
  })

  test('the payload names the deployment and links to it', async () => {
    await addTarget()
    const id = await end('failed', { error: JSON.stringify({ code: 'build_failed', message: 'npm run build failed.', hint: 'Fix it.' }) })
    const [row] = await db.read((tx) => listNotificationDeliveries(tx, scope, { before: undefined, limit: 1 }))
    expect(JSON.parse(row?.payload ?? '{}')).toMatchObject({
      id: row?.id,
      type: 'deployment.failed',
      title: 'Deployment of shop failed',
      text: 'npm run build failed.\nFix it.',
      url: `http://127.0.0.1:4600/app/projects/shop/deployments/${id}`,
      project: { slug: 'shop' },
      data: { deployment_id: id, target: 'production', error: { code: 'build_failed' } },
    })
  })

  test('a transaction that fails leaves no notification', async () => {
    await addTarget()
    const failing = db.write((tx) => {
      insertDeployment(tx, { ...deploymentRow({ id: 'dpl_x', project_id: 'prj_shop' }, isoTime(clock.now())), status: 'failed' }, [])
      tx.publish({ type: 'deployment_changed', id: 'dpl_x' })
      throw new Error('undone')
    })
    await expect(failing).rejects.toThrow('undone')
    expect(await queued()).toEqual([])
  })
})

describe('crashes', () => {
  beforeEach(async () => {
    await addTarget()
    await clock.advance(1_000)
  })

  test('once when it begins, once when the app runs again', async () => {
    await setCrashed(true)
    await setCrashed(true)
    expect(await queued()).toEqual(['app.crashed'])
    await setCrashed(false)
    await setCrashed(false)
    expect(await queued()).toEqual(['app.recovered'])
  })

  test('those of services, each once', async () => {
    const crashService = (service: string) =>
      db.write((tx) => {
        const project = findProject(tx, 'prj_shop')!
        recordProjectActivity(tx, isoTime(clock.now()), project, { action: 'service.crashed', actor_kind: 'system', target_name: service })
      })
    await crashService('worker')
    await crashService('mailer')
    expect(await queued()).toEqual(['app.crashed', 'app.crashed'])
    const [latest] = await db.read((tx) => listNotificationDeliveries(tx, scope, { before: undefined, limit: 1 }))
    expect(JSON.parse(latest?.payload ?? '{}')).toMatchObject({ title: 'mailer of shop crashed', data: { service: 'mailer' } })
  })

  test('a stopped app is not running again', async () => {
    await setCrashed(true)
    await setCrashed(false, 'inactive')
    expect(await queued()).toEqual(['app.crashed'])
  })

  test('one that comes and goes is reported again after ten minutes', async () => {
    await setCrashed(true)
    await setCrashed(false)
    for (let i = 0; i < 5; i++) {
      await clock.advance(minute)
      await setCrashed(true)
      await clock.advance(minute)
      await setCrashed(false)
    }
    expect(await queued()).toEqual(['app.crashed', 'app.recovered'])
    await clock.advance(minute)
    await setCrashed(true)
    expect(await queued()).toEqual(['app.crashed'])
  })
})

describe('what is checked every minute', () => {
  let rows: { ts: number; requests: number; status_5xx: number }[] = []
  let free = 100e9
  let replacedAt: number | undefined
  let certificates: PublicCertificate[] = []
  beforeEach(() => {
    rows = []
    free = 100e9
    replacedAt = undefined
    certificates = []
  })
  const startMonitor = () => {
    const monitor = createNotificationMonitor({
      db,
      clock,
      log: silentLog,
      dashboardUrl: () => 'http://127.0.0.1:4600/app/',
      readMetrics: (id, since) => (id === 'prj_shop' ? rows.filter(({ ts }) => ts >= since) : []),
      readFreeDisk: async () => free,
      findAuthorityReplacement: async () => replacedAt,
      listPublicCertificates: () => certificates,
    })
    monitor.start()
    return monitor
  }
  const minutes = async (count: number, requests = 0, errors = 0) => {
    for (let i = 0; i < count; i++) {
      rows.push({ ts: Math.floor(clock.now() / 1000), requests, status_5xx: errors })
      await clock.advance(minute)
      // The check reads and writes in a few turns of the event loop.
      for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate)
    }
  }

  test('an error rate above the limit within its time, once, and its end', async () => {
    await addTarget({ error_rate: { percent: 40, minutes: 3 } })
    const monitor = startMonitor()
    await minutes(2, 20, 0)
    await minutes(1, 20, 10)
    expect(await queued()).toEqual([])
    await minutes(5, 20, 10)
    expect(await queued()).toEqual(['error_rate.exceeded'])
    await minutes(10, 20, 0)
    expect(await queued()).toEqual(['error_rate.recovered'])
    await monitor.close()
  })

  test('not below the limit, and not with few requests', async () => {
    await addTarget({ error_rate: { percent: 30, minutes: 3 } })
    const monitor = startMonitor()
    await minutes(5, 20, 2)
    await minutes(5, 1, 1)
    expect(await queued()).toEqual([])
    await monitor.close()
  })

  test('the disk and the certificate authority', async () => {
    await addTarget({ disk: true, certificate: true })
    await addTarget({}, { id: 'ntt_2' })
    const monitor = startMonitor()
    replacedAt = clock.now() + 31 * 24 * 60 * minute
    await minutes(2)
    expect(await queued()).toEqual([])
    free = 1e9
    await minutes(3)
    expect(await queued()).toEqual(['disk.low'])
    // A little more than the limit is not over yet.
    free = 5.5 * 1024 ** 3
    await minutes(3)
    expect(await queued()).toEqual([])
    free = 50e9
    replacedAt = clock.now() + 24 * 60 * minute
    await minutes(2)
    expect((await queued()).toSorted()).toEqual(['certificate.expiring', 'disk.recovered'])
    await monitor.close()
  })

  test('a public certificate that is not issued or renewed', async () => {
    await addTarget({ certificate: true })
    await addTarget({ disk: true }, { id: 'ntt_2' })
    const monitor = startMonitor()
    const certificate = { name: 'www.example.com', status: 'failed', expires_at: null, last_attempt_at: null, next_attempt_at: null } as const
    certificates = [{ ...certificate, failures: 2, last_error: 'No record.' }]
    await minutes(2)
    expect(await queued()).toEqual([])
    certificates = [{ ...certificate, failures: 3, last_error: 'No record.' }]
    await minutes(3)
    expect(await queued()).toEqual(['certificate.expiring'])
    certificates = [{ ...certificate, status: 'issued', failures: 0, last_error: null }]
    await minutes(3)
    expect(await queued()).toEqual(['certificate.renewed'])
    await monitor.close()
  })

  test('a crash that began within ten minutes of the last notification is reported when they are over', async () => {
    await addTarget()
    const monitor = startMonitor()
    await minutes(1)
    await setCrashed(true)
    await setCrashed(false)
    await setCrashed(true)
    await minutes(5)
    expect(await queued()).toEqual(['app.crashed', 'app.recovered'])
    await minutes(6)
    expect(await queued()).toEqual(['app.crashed'])
    await monitor.close()
  })
})

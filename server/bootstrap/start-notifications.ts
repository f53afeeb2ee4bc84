import { statfs } from 'node:fs/promises'
import type { EmailSender } from '../email/email.ts'
import { limits } from '../contract/limits.ts'
import { isoTime } from '../lib/clock.ts'
import type { PeriodicJobs } from '../maintenance/periodic-jobs.ts'
import { createDeliveryWorker } from '../notifications/delivery-worker.ts'
import { createNotificationMonitor } from '../notifications/monitor.ts'
import { createEventRecorder } from '../notifications/record-events.ts'
import { createNotificationSender } from '../notifications/send.ts'
import { deleteOldDeliveries } from '../store/notifications.ts'
import type { PlatformContext } from './context.ts'
import type { PlatformEdge } from './start-edge.ts'

/** Stores notifications with the changes that they are about, checks what has no event, and sends them. Starts once the API has its address. */
export function startNotifications(
  context: PlatformContext,
  { edge, mail, jobs }: { edge: Pick<PlatformEdge, 'metrics' | 'localHttps' | 'publicNames'>; mail: EmailSender; jobs: PeriodicJobs },
): void {
  const { store, clock, urls, data_dir, onClose } = context
  const { db } = store
  const dashboardUrl = () => urls.dashboard
  const worker = createDeliveryWorker({ ...context, db, send: createNotificationSender({ mail, clock }) })
  const monitor = createNotificationMonitor({
    ...context,
    db,
    dashboardUrl,
    readMetrics: edge.metrics.readSince,
    async readFreeDisk() {
      const { bavail, bsize } = await statfs(data_dir)
      return bavail * bsize
    },
    findAuthorityReplacement: edge.localHttps.findAuthorityReplacement,
    listPublicCertificates: () => edge.publicNames.status().certificates,
  })
  db.beforeCommit(createEventRecorder(clock, context.log, dashboardUrl))
  jobs.add('notifications', () =>
    db.write((tx) => deleteOldDeliveries(tx, isoTime(clock.now() - limits.notifications.retention_days * 24 * 3_600_000))),
  )
  monitor.start()
  worker.start()
  onClose(async () => {
    await monitor.close()
    await worker.close()
  })
}

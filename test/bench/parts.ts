import { benchApi } from './api.ts'
import { benchCacheSuite } from './cache-suite.ts'
import { benchContention } from './contention.ts'
import { benchDeploy } from './deploy.ts'
import { benchDev } from './dev.ts'
import { benchDashboard } from './dashboard.ts'
import { benchEdge, benchCacheHits, benchWorkers, benchMetrics, benchRequestLog, benchCapture } from './edge.ts'
import { benchLanguages } from './languages.ts'
import { benchLogs } from './logs.ts'
import { benchEventLoop } from './event-loop.ts'
import { benchEnv, benchPreview } from './preview.ts'
import { benchPurge } from './purge.ts'
import { benchRequestSearch } from './request-log.ts'
import type { BenchRow } from './row.ts'
import { benchScrolling } from './scrolling.ts'
import { benchSoak } from './soak.ts'
import { benchStart } from './start.ts'
import { benchStreams } from './streams.ts'
import { benchThroughput } from './throughput.ts'
import { benchUpload } from './upload.ts'
import { benchWake } from './wake.ts'

/** How much of a part is run; the default is as much as its figures need. */
export interface BenchOptions {
  rounds?: number
  /** Cases of a part; all by default. */
  cases?: string[] | undefined
  seconds?: number
  /** Turns of the wheel for each scroll of a page. */
  turns?: number
  /** A data folder of 10 000 projects, one of them with many deployments. */
  store(): Promise<string>
  /** The page of that deployment list that is far from its start. */
  far_page?: number
  /** Deployments of a soak. */
  count?: number
}

/** Every part of `npm run bench`, by name. */
export const parts: Record<string, (size: BenchOptions) => Promise<BenchRow[]>> = {
  edge: benchEdge,
  hits: benchCacheHits,
  workers: benchWorkers,
  throughput: benchThroughput,
  contention: benchContention,
  purge: benchPurge,
  cachesuite: () => benchCacheSuite(),
  metrics: benchMetrics,
  requests: benchRequestLog,
  capture: benchCapture,
  search: benchRequestSearch,
  wake: benchWake,
  deploy: benchDeploy,
  languages: benchLanguages,
  upload: ({ rounds }) => benchUpload(rounds),
  preview: ({ rounds }) => benchPreview(rounds),
  env: ({ rounds }) => benchEnv(rounds),
  api: async (size) => benchApi(await size.store(), size),
  start: async (size) => benchStart(await size.store(), size),
  logs: benchLogs,
  loop: benchEventLoop,
  dashboard: benchDashboard,
  scrolling: benchScrolling,
  dev: benchDev,
  streams: benchStreams,
  soak: ({ count }) => benchSoak(count === undefined ? {} : { deployments: count, upload_mb: 4 }),
}

import { readdir } from 'node:fs/promises'
import type { MetricFamily } from '../lib/prometheus-text.ts'
import type { FeatureDeps } from './deps.ts'

/** The platform's own process, under the names that client libraries of Prometheus use. */
export async function listProcessMetrics({ instance }: Pick<FeatureDeps, 'instance'>): Promise<MetricFamily[]> {
  const { user, system } = process.cpuUsage()
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage()
  // Only Linux shows them as files.
  const descriptors = await readdir('/proc/self/fd').catch(() => [])
  return [
    {
      name: 'homeport_build_info',
      help: 'The version of this instance.',
      type: 'gauge',
      samples: [{ labels: { version: instance().version }, value: 1 }],
    },
    single('process_cpu_seconds_total', 'counter', 'CPU time of the platform.', (user + system) / 1e6),
    single('process_resident_memory_bytes', 'gauge', 'Memory of the platform.', rss),
    single('process_start_time_seconds', 'gauge', 'When the platform started, in seconds since 1970.', performance.timeOrigin / 1000),
    ...(descriptors.length > 0 ? [single('process_open_fds', 'gauge', 'Open file descriptors of the platform.', descriptors.length)] : []),
    single('nodejs_heap_size_used_bytes', 'gauge', 'Used JavaScript heap of the platform.', heapUsed),
    single('nodejs_heap_size_total_bytes', 'gauge', 'JavaScript heap of the platform.', heapTotal),
    single('nodejs_external_memory_bytes', 'gauge', 'Memory of the platform that its JavaScript objects refer to.', external),
  ]
}

const single = (name: string, type: 'counter' | 'gauge', help: string, value: number): MetricFamily => ({
  name,
  help,
  type,
  samples: [{ labels: {}, value }],
})

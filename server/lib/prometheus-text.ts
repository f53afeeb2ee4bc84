/** A metric with its samples, as Prometheus names and types them. */
export interface MetricFamily {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  samples: MetricSample[]
}

interface MetricSample {
  /** Of a histogram: `_bucket`, `_sum` and `_count`. */
  suffix?: string
  labels: Record<string, string>
  value: number
}

/** The text format 0.0.4 of Prometheus. A metric without samples is left out. */
export function formatPrometheusText(families: readonly MetricFamily[]): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, help, type, samples }) => {
      const lines = samples.map(({ suffix = '', labels, value }) => `${name}${suffix}${formatLabels(labels)} ${formatValue(value)}\n`)
      return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n${lines.join('')}`
    })
    .join('')
}

/** The samples of a histogram: counts up to each bound, then all. */
export function histogramSamples(
  labels: Record<string, string>,
  bounds: readonly number[],
  { countUpTo, sum, count }: { countUpTo(bound: number): number; sum: number; count: number },
): MetricSample[] {
  const buckets = bounds.map((bound) => ({ suffix: '_bucket', labels: { ...labels, le: formatValue(bound) }, value: countUpTo(bound) }))
  return [
    ...buckets,
    { suffix: '_bucket', labels: { ...labels, le: '+Inf' }, value: count },
    { suffix: '_sum', labels, value: sum },
    { suffix: '_count', labels, value: count },
  ]
}

function formatLabels(labels: Record<string, string>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

const formatValue = (value: number): string => (value === Infinity ? '+Inf' : String(value))
const escapeHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
const escapeLabel = (text: string): string => escapeHelp(text).replaceAll('"', '\\"')

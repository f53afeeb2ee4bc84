export interface ParsedMetric {
  type: string
  help: string
  samples: { name: string; labels: Record<string, string>; value: number }[]
}

const sampleLine = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? ([+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf)|NaN)$/
const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"(,|$)/y

/** Reads the text format 0.0.4 of Prometheus, and throws for anything that the format or its conventions do not allow. */
export function parsePrometheus(text: string): Map<string, ParsedMetric> {
  if (!text.endsWith('\n')) throw new Error('The last line must end with a line feed.')
  const metrics = new Map<string, ParsedMetric>()
  const seen = new Set<string>()
  let current: [string, ParsedMetric] | undefined
  for (const line of text.slice(0, -1).split('\n')) {
    const help = /^# HELP (\S+) (.+)$/.exec(line)
    const type = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(line)
    if (help) {
      const [, name = '', words = ''] = help
      if (metrics.has(name)) throw new Error(`${name} occurs twice.`)
      current = [name, { type: '', help: words, samples: [] }]
      metrics.set(...current)
    } else if (type) {
      if (current?.[0] !== type[1] || current?.[1].samples.length !== 0) throw new Error(`TYPE without its HELP: ${line}`)
      current[1].type = type[2] ?? ''
    } else {
      const [, name = '', labels = '', value = ''] = sampleLine.exec(line) ?? []
      if (name === '' || !current) throw new Error(`Not a sample: ${line}`)
      const suffixes = current[1].type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
      if (!suffixes.some((suffix) => name === current?.[0] + suffix)) throw new Error(`A sample of another metric: ${line}`)
      const key = `${name}{${labels}}`
      if (seen.has(key)) throw new Error(`A repeated sample: ${line}`)
      seen.add(key)
      current[1].samples.push({ name, labels: parseLabels(labels), value: value === '+Inf' ? Infinity : Number(value) })
    }
  }
  for (const [name, metric] of metrics) checkConventions(name, metric)
  return metrics
}

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {}
  for (label.lastIndex = 0; label.lastIndex < text.length;) {
    const found = label.exec(text)
    if (!found) throw new Error(`Labels: ${text}`)
    labels[found[1] ?? ''] = (found[2] ?? '').replaceAll(/\\(.)/g, (_, sign: string) => (sign === 'n' ? '\n' : sign))
  }
  return labels
}

function checkConventions(name: string, { type, samples }: ParsedMetric): void {
  if (samples.length === 0) throw new Error(`${name} has no samples.`)
  if (type === 'counter' && !name.endsWith('_total')) throw new Error(`The counter ${name} does not end with _total.`)
  if (type !== 'counter' && name.endsWith('_total')) throw new Error(`${name} is no counter.`)
  if (type !== 'gauge' && samples.some(({ value }) => !(value >= 0))) throw new Error(`${name} has a negative or missing value.`)
  if (type !== 'histogram') return
  const series = new Map<string, { buckets: [number, number][]; count?: number; sum?: number }>()
  for (const sample of samples) {
    const { le, ...labels } = sample.labels
    const key = JSON.stringify(labels)
    const one = series.get(key) ?? { buckets: [] }
    series.set(key, one)
    if (sample.name.endsWith('_bucket')) one.buckets.push([le === '+Inf' ? Infinity : Number(le), sample.value])
    else if (sample.name.endsWith('_sum')) one.sum = sample.value
    else one.count = sample.value
  }
  for (const { buckets, count, sum } of series.values()) {
    if (sum === undefined || buckets.at(-1)?.[0] !== Infinity || buckets.at(-1)?.[1] !== count) throw new Error(`${name} is incomplete.`)
    for (const [i, [le, value]] of buckets.entries())
      if (i > 0 && (le <= (buckets[i - 1]?.[0] ?? 0) || value < (buckets[i - 1]?.[1] ?? 0))) throw new Error(`${name} has buckets out of order.`)
  }
}

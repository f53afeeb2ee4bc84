import type { TraceLogLine, TraceSpan } from '../../../server/contract/traces.ts'

export type WaterfallRow =
  | { kind: 'span'; key: string; span: TraceSpan; depth: number; is_collapsed: boolean; hidden: number; has_children: boolean }
  | { kind: 'log'; key: string; log: TraceLogLine; depth: number }

/** Spans with their depth and the number of spans below them, in the order of the trace. */
export interface SpanNode {
  span: TraceSpan
  depth: number
  descendants: number
  logs: TraceLogLine[]
}

/** The spans come with parents before their children. Log lines belong to the span that they name, or else to the first one. */
export function buildTree(spans: readonly TraceSpan[], logs: readonly TraceLogLine[]): SpanNode[] {
  const nodes: SpanNode[] = []
  const byId = new Map<string, SpanNode>()
  const open: SpanNode[] = []
  for (const span of spans) {
    const parent = span.parent_id === null ? undefined : byId.get(span.parent_id)
    const node: SpanNode = { span, depth: parent ? parent.depth + 1 : 0, descendants: 0, logs: [] }
    while (open.length > node.depth) open.pop()
    for (const ancestor of open) ancestor.descendants++
    open.push(node)
    nodes.push(node)
    byId.set(span.span_id, node)
  }
  for (const log of logs) (byId.get(log.span_id ?? '') ?? nodes[0])?.logs.push(log)
  return nodes
}

/** The rows that are visible while some spans are collapsed. */
export function listRows(nodes: readonly SpanNode[], collapsed: ReadonlySet<string>): WaterfallRow[] {
  const rows: WaterfallRow[] = []
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i]
    if (!node) continue
    const { span, depth, descendants, logs } = node
    const is_collapsed = collapsed.has(span.span_id)
    const hidden = is_collapsed ? nodes.slice(i, i + 1 + descendants).reduce((sum, one) => sum + 1 + one.logs.length, -1) : 0
    const has_children = descendants > 0 || logs.length > 0
    rows.push({ kind: 'span', key: span.span_id, span, depth, has_children, is_collapsed, hidden })
    if (is_collapsed) i += descendants
    else logs.forEach((log, at) => rows.push({ kind: 'log', key: `${span.span_id} ${at}`, log, depth: depth + 1 }))
  }
  return rows
}

import { Clock, Container, Cpu, Database, Globe, HardDrive, Users } from 'lucide-react'
import { useMemo } from 'react'
import type { PlannedSource } from '../../../server/contract/source-plans.ts'
import { type DiagramNode, layOutDiagram } from './diagram-layout.ts'
import styles from './plan.module.css'

const node = { width: 168, height: 50, column_gap: 44, row_gap: 14 }
const icons = { visitors: Users, web: Globe, worker: Cpu, cron: Clock, image: Container, volume: HardDrive, managed: Database }

const xOf = ({ column }: DiagramNode) => column * (node.width + node.column_gap)
const yOf = ({ row }: DiagramNode) => row * (node.height + node.row_gap)

/** Services, images, managed services and volumes with their connections. The facts below say the same in words. */
export function ServiceDiagram({ services, builds, managed }: Pick<PlannedSource, 'services' | 'builds' | 'managed'>) {
  const { nodes, edges, columns, rows } = useMemo(() => layOutDiagram(services, builds, managed), [services, builds, managed])
  const width = columns * node.width + (columns - 1) * node.column_gap
  const height = rows * node.height + (rows - 1) * node.row_gap
  const find = (id: string) => nodes.find((one) => one.id === id)
  return (
    <div className={styles.diagramFrame} role="region" aria-label="Services and their connections" tabIndex={0}>
      <div className={styles.diagram} style={{ width, height }}>
        <svg width={width} height={height} aria-hidden>
          {edges.map(([from, to]) => {
            const [start, end] = [find(from), find(to)]
            return start && end ? <path key={`${from} ${to}`} d={drawEdge(start, end)} /> : null
          })}
        </svg>
        <ul>
          {nodes.map((one) => {
            const Icon = icons[one.kind]
            return (
              <li
                key={one.id}
                className={styles.node}
                data-kind={one.kind}
                style={{ left: xOf(one), top: yOf(one), width: node.width, height: node.height }}
              >
                <Icon size={16} aria-hidden />
                <span title={one.subtitle}>
                  <strong className="truncate">{one.title}</strong>
                  <span className="truncate">{one.subtitle}</span>
                </span>
              </li>
            )
          })}
        </ul>
      </div>
    </div>
  )
}

/** A curve from the right side of a node to the left side of another. */
function drawEdge(from: DiagramNode, to: DiagramNode): string {
  const [x1, y1] = [xOf(from) + node.width, yOf(from) + node.height / 2]
  const [x2, y2] = [xOf(to), yOf(to) + node.height / 2]
  const middle = x2 - node.column_gap / 2
  return `M ${x1} ${y1} H ${middle - node.column_gap / 2} C ${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`
}

import { type KeyboardEvent, type PointerEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { type TimeLabel, chartMargin as leftMargin, formatCompact } from '../lib/chart-scale.ts'
import styles from './chart.module.css'

export type ChartPattern = 'solid' | 'outline' | 'hatch' | 'cross' | 'dots'

export interface ChartSeries {
  name: string
  colour: 'live' | 'cold' | 'busy' | 'fail' | 'ink' | 'accent' | 'idle'
  /** Fill pattern of the bars. */
  pattern?: ChartPattern
  /** Line style. */
  line?: 'plain' | 'dashed' | 'dotted'
  values: readonly (number | null)[]
}

interface Props {
  /** Accessible name of the chart. */
  label: string
  kind: 'bars' | 'lines'
  series: readonly ChartSeries[]
  /** Time label of each value. */
  times: readonly string[]
  timeLabels: readonly TimeLabel[]
  ticks: readonly number[]
  /** Formats a value with its unit. */
  formatValue: (value: number | null) => string
  formatTick?: (value: number) => string
  height?: number
  /** The hovered index, shared by all charts of a page; null without hover. */
  cursor: number | null
  onCursorChange: (cursor: number | null) => void
  /** Called for the index that is clicked, or confirmed with Enter. */
  onSelect?: (index: number) => void
  /** Events by index, such as deployments: a line in the chart, and a text in its tooltip. */
  events?: ReadonlyMap<number, string>
}

const bottomMargin = 22
const topMargin = 8

/** Values over time as stacked bars or lines. Pointer and arrow keys read out exact values. */
export function Chart({
  label,
  kind,
  series,
  times,
  timeLabels,
  ticks,
  formatValue,
  formatTick = formatCompact,
  height = 190,
  cursor,
  onCursorChange,
  onSelect,
  events,
}: Props) {
  const container = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  // All charts show the cursor line; only the hovered chart shows the values.
  const [isActive, setActive] = useState(false)
  const patterns = useId().replaceAll(':', '')
  const count = times.length
  const top = ticks.at(-1) ?? 1
  const innerWidth = Math.max(0, width - leftMargin)
  const innerHeight = height - bottomMargin - topMargin
  const step = innerWidth / Math.max(1, count)
  const x = (index: number) => leftMargin + (index + 0.5) * step
  const y = (value: number) => topMargin + innerHeight * (1 - value / top)

  useEffect(() => {
    const element = container.current
    if (!element) return
    const observer = new ResizeObserver(() => setWidth(element.clientWidth))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])

  const onPointer = ({ clientX, currentTarget }: PointerEvent<HTMLDivElement>) => {
    setActive(true)
    const index = Math.floor((clientX - currentTarget.getBoundingClientRect().left - leftMargin) / step)
    onCursorChange(index >= 0 && index < count ? index : null)
  }
  const leave = () => {
    setActive(false)
    onCursorChange(null)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && cursor !== null) return onSelect?.(cursor)
    const from = cursor ?? count
    const moves: Record<string, number | null> = {
      ArrowLeft: from - 1,
      ArrowRight: cursor === null ? count - 1 : cursor + 1,
      PageUp: from - 12,
      PageDown: from + 12,
      Home: 0,
      End: count - 1,
      Escape: null,
    }
    const to = moves[event.key]
    if (to === undefined || (to === null && cursor === null)) return
    event.preventDefault()
    setActive(true)
    onCursorChange(to === null ? null : Math.min(count - 1, Math.max(0, to)))
  }
  const shownIndex = cursor ?? count - 1
  const values = series.map(({ name, values: all }) => `${name} ${formatValue(all[shownIndex] ?? null)}`).join(', ')

  return (
    <div
      ref={container}
      className={styles.chart}
      style={{ height }}
      role="slider"
      tabIndex={0}
      aria-label={`${label}; use the arrow keys to move through time`}
      aria-orientation="horizontal"
      aria-valuemin={0}
      aria-valuemax={Math.max(0, count - 1)}
      aria-valuenow={shownIndex}
      aria-valuetext={`${times[shownIndex] ?? ''}: ${values}`}
      onPointerMove={onPointer}
      onPointerDown={onPointer}
      onPointerLeave={({ pointerType }) => pointerType === 'mouse' && leave()}
      onBlur={leave}
      onKeyDown={onKeyDown}
      onClick={onSelect && (() => cursor !== null && onSelect(cursor))}
      data-selectable={onSelect ? true : undefined}
    >
      {width > 0 && (
        <svg height={height} aria-hidden>
          <Patterns id={patterns} series={series} />
          {ticks.map((tick) => (
            <g key={tick}>
              <line className={tick === 0 ? styles.chartBase : styles.chartGrid} x1={leftMargin} x2={width} y1={y(tick)} y2={y(tick)} />
              <text x={leftMargin - 8} y={y(tick) + 4} textAnchor="end">
                {formatTick(tick)}
              </text>
            </g>
          ))}
          {timeLabels.map(({ index, text }) => (
            <text key={index} x={Math.min(x(index) - step / 2, width - 18)} y={height - 5} textAnchor={index === 0 ? 'start' : 'middle'}>
              {text}
            </text>
          ))}
          {kind === 'bars' ? (
            <Bars series={series} id={patterns} x={(index) => x(index) - step / 2} y={y} step={step} />
          ) : (
            <Lines series={series} x={x} y={y} />
          )}
          {[...(events?.keys() ?? [])].map((index) => (
            <line key={index} className={styles.chartEvent} x1={x(index)} x2={x(index)} y1={topMargin} y2={height - bottomMargin} />
          ))}
          {cursor !== null && cursor < count && (
            <line className={styles.chartCursor} x1={x(cursor)} x2={x(cursor)} y1={topMargin} y2={height - bottomMargin} />
          )}
        </svg>
      )}
      {isActive && cursor !== null && cursor < count && (
        <div
          className={styles.chartTip}
          data-testid="chart-tip"
          style={cursor < count / 2 ? { left: x(cursor) + 12 } : { right: width - x(cursor) + 12 }}
        >
          <p className="text-subtle">{times[cursor]}</p>
          {events?.has(cursor) && <p>{events.get(cursor)}</p>}
          <dl>
            {series.map((one) => (
              <TooltipRow key={one.name} series={one}>
                {formatValue(one.values[cursor] ?? null)}
              </TooltipRow>
            ))}
          </dl>
        </div>
      )}
    </div>
  )
}

function TooltipRow({ series, children }: { series: ChartSeries; children: ReactNode }) {
  return (
    <>
      <Swatch series={series} />
      <dt>{series.name}</dt>
      <dd>{children}</dd>
    </>
  )
}

/** Legend with the total of each series. */
export function Legend({ series, totals, children }: { series: readonly ChartSeries[]; totals: readonly string[]; children?: ReactNode }) {
  return (
    <ul className={styles.chartLegend} aria-label="Legend">
      {series.map((one, index) => (
        <li key={one.name}>
          <Swatch series={one} /> {one.name} <strong>{totals[index]}</strong>
        </li>
      ))}
      {children && <li>{children}</li>}
    </ul>
  )
}

function Swatch({ series }: { series: ChartSeries }) {
  const id = useId().replaceAll(':', '')
  if (series.line) {
    return (
      <svg className={`${styles.swatch} ${styles[`series-${series.colour}`]}`} width={20} height={12} aria-hidden>
        <path className={`${styles.chartLine} ${styles[`chart-line-${series.line}`] ?? ''}`} d="M0 6h20" />
      </svg>
    )
  }
  return (
    <svg className={styles.swatch} width={12} height={12} aria-hidden>
      <Patterns id={id} series={[series]} />
      <rect width={12} height={12} rx={2} fill={`url(#${id}-${series.colour})`} />
    </svg>
  )
}

function Patterns({ id, series }: { id: string; series: readonly ChartSeries[] }) {
  return (
    <defs>
      {series.map(({ name, colour, pattern = 'solid' }) => (
        <pattern key={name} id={`${id}-${colour}`} className={styles[`series-${colour}`]} width={6} height={6} patternUnits="userSpaceOnUse">
          {pattern === 'solid' ? (
            <rect width={6} height={6} fill="var(--series)" />
          ) : (
            <>
              <rect width={6} height={6} fill="var(--series)" opacity={0.3} />
              <path d={strokes[pattern]} stroke="var(--series)" strokeWidth={pattern === 'dots' ? 2.4 : 1.7} strokeLinecap="square" />
            </>
          )}
        </pattern>
      ))}
    </defs>
  )
}

const strokes: Record<Exclude<ChartPattern, 'solid'>, string> = {
  outline: 'M0 1.5h6M0 4.5h6',
  hatch: 'M-1 1l2 -2M0 6l6 -6M5 7l2 -2',
  cross: 'M0 0l6 6M0 6l6 -6',
  dots: 'M1.5 1.5h.01M4.5 4.5h.01',
}

interface PlotProps {
  series: readonly ChartSeries[]
  x: (index: number) => number
  y: (value: number) => number
}

function Bars({ series, x, y, step, id }: PlotProps & { step: number; id: string }) {
  const gap = step > 5 ? 1.5 : step > 2.5 ? 0.5 : 0
  const base = series[0]?.values.map(() => 0) ?? []
  return series.map(({ name, colour, values }) => (
    <g key={name} className={styles[`series-${colour}`]}>
      {values.map((value, index) => {
        if (!value) return null
        const from = base[index] ?? 0
        base[index] = from + value
        // A nonzero value keeps a minimum height.
        const height = Math.max(1.5, y(from) - y(from + value))
        return (
          <rect
            key={index}
            x={x(index) + gap / 2}
            y={y(from) - height}
            width={Math.max(1, step - gap)}
            height={height}
            fill={`url(#${id}-${colour})`}
          />
        )
      })}
    </g>
  ))
}

/** A line through the values. It breaks at missing values; a single value becomes a dot. */
function Lines({ series, x, y }: PlotProps) {
  return series.map(({ name, colour, line = 'plain', values }) => {
    let path = ''
    const isolated: number[] = []
    values.forEach((value, index) => {
      if (value === null) return
      const isContinued = (values[index - 1] ?? null) !== null
      path += `${isContinued ? 'L' : 'M'}${x(index).toFixed(1)} ${y(value).toFixed(1)}`
      if (!isContinued && (values[index + 1] ?? null) === null) isolated.push(index)
    })
    return (
      <g key={name} className={styles[`series-${colour}`]}>
        <path className={`${styles.chartLine} ${styles[`chart-line-${line}`] ?? ''}`} d={path} />
        {isolated.map((index) => (
          <circle key={index} className={styles.chartDot} cx={x(index)} cy={y(values[index] ?? 0)} r={2.5} />
        ))}
      </g>
    )
  })
}

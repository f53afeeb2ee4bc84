import { screen } from '@testing-library/react'
import { useState } from 'react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Chart, type ChartSeries, Legend } from '../../../renderer/components/chart.tsx'
import { chartMargin } from '../../../renderer/lib/chart-scale.ts'
import { renderPart } from '../../support/dashboard.tsx'

const width = chartMargin + 400
const series: ChartSeries[] = [
  { name: 'OK', colour: 'live', values: [10, 0, 30, null] },
  { name: 'Failed', colour: 'fail', pattern: 'hatch', values: [5, 0, 10, null] },
]
interface ChartState {
  kind?: 'bars' | 'lines'
  rows?: ChartSeries[]
  count?: number
  initial?: number | null
  onSelect?: (index: number) => void
  events?: ReadonlyMap<number, string>
}
function Example({ kind = 'bars', rows = series, count = 4, initial = null, onSelect, events }: ChartState) {
  const [cursor, setCursor] = useState<number | null>(initial)
  return (
    <Chart
      label="Requests"
      kind={kind}
      series={rows}
      times={Array.from({ length: count }, (_, index) => `${index}:00`)}
      timeLabels={[
        { index: 0, text: '0:00' },
        { index: 3, text: '3:00' },
      ]}
      ticks={[0, 50]}
      formatValue={(value) => (value === null ? '–' : `${value} req`)}
      height={130}
      cursor={cursor}
      onCursorChange={setCursor}
      {...(onSelect && { onSelect })}
      {...(events && { events })}
    />
  )
}
const open = (state: ChartState = {}) => renderPart(<Example {...state} />)
const slider = () => screen.getByRole('slider')
const rectangles = () =>
  [...document.querySelectorAll('[role=slider] svg > g > rect')].map((one) =>
    ['x', 'y', 'width', 'height'].map((name) => Number(Number(one.getAttribute(name)).toFixed(3))),
  )

/** The document has no layout, so its observer reports a width of the chart. */
class MeasuredObserver implements ResizeObserver {
  readonly #onResize: ResizeObserverCallback
  constructor(onResize: ResizeObserverCallback) {
    this.#onResize = onResize
  }
  observe(): void {
    this.#onResize([], this)
  }
  unobserve(): void {}
  disconnect(): void {}
}

beforeEach(() => {
  vi.stubGlobal('ResizeObserver', MeasuredObserver)
  vi.spyOn(HTMLElement.prototype, 'clientWidth', 'get').mockReturnValue(width)
})
afterEach(() => vi.restoreAllMocks())

test('bars are stacked, and an empty value has none', () => {
  open()
  expect(rectangles()).toEqual([
    [chartMargin + 0.75, 88, 98.5, 20],
    [chartMargin + 200.75, 48, 98.5, 60],
    [chartMargin + 0.75, 78, 98.5, 10],
    [chartMargin + 200.75, 28, 98.5, 20],
  ])
})

test.each([
  [80, 5, 0.5],
  [200, 2, 0],
  [800, 1, 0],
])('%i bars are %i pixels wide, with a gap of %d', (count, barWidth, gap) => {
  open({ count, rows: [{ name: 'OK', colour: 'live', values: [0.1] }] })
  expect(rectangles()).toEqual([[chartMargin + gap / 2, 106.5, Math.max(1, 400 / count - gap), 1.5]])
  expect(Math.ceil(400 / count)).toBe(barWidth)
})

test('lines break at missing values, and a single value is a dot', () => {
  open({ kind: 'lines', rows: [{ name: 'p50', colour: 'ink', values: [10, 20, null, 50] }] })
  const [x0, x1, x3] = [50, 150, 350].map((x) => (chartMargin + x).toFixed(1))
  expect(document.querySelector('path')?.getAttribute('d')).toBe(`M${x0} 88.0L${x1} 68.0M${x3} 8.0`)
  expect([...document.querySelectorAll('circle')].map((dot) => [dot.getAttribute('cx'), dot.getAttribute('cy')])).toEqual([
    [`${chartMargin + 350}`, '8'],
  ])
})

test('the cursor, events and ticks are lines', () => {
  open({ initial: 1, events: new Map([[0, 'Deployed']]) })
  const lines = [...document.querySelectorAll('line')].map((line) => ['x1', 'y1'].map((name) => Number(line.getAttribute(name))))
  expect(lines).toEqual([
    [chartMargin, 108],
    [chartMargin, 8],
    [chartMargin + 50, 8],
    [chartMargin + 150, 8],
  ])
  expect([...document.querySelectorAll('text')].map((label) => [label.textContent, label.getAttribute('text-anchor')])).toEqual([
    ['0', 'end'],
    ['50', 'end'],
    ['0:00', 'start'],
    ['3:00', 'middle'],
  ])
})

test('without a width nothing is drawn, and without values the slider is at zero', () => {
  vi.spyOn(HTMLElement.prototype, 'clientWidth', 'get').mockReturnValue(0)
  open({ count: 0, rows: [] })
  expect(document.querySelector('svg')).toBeNull()
  expect(slider().getAttribute('aria-valuemax')).toBe('0')
})

test.each([
  [undefined, '[Legend] OK 40 Failed 15'],
  ['All 55', '[Legend] OK 40 Failed 15 All 55'],
])('the legend with %j', (children, expected) => {
  expect(
    renderPart(
      <Legend series={series} totals={['40', '15']}>
        {children}
      </Legend>,
    ).text(),
  ).toBe(expected)
})

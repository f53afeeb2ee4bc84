import { fireEvent, screen } from '@testing-library/react'
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
const value = () => slider().getAttribute('aria-valuetext')
const tip = () => screen.queryByTestId('chart-tip')
const point = (clientX: number) => fireEvent.pointerMove(slider(), { clientX })
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

test.each<[string, number | null, string | null]>([
  ['ArrowLeft', null, '3:00: OK –, Failed –'],
  ['ArrowLeft', 2, '1:00: OK 0 req, Failed 0 req'],
  ['ArrowRight', null, '3:00: OK –, Failed –'],
  ['ArrowRight', 0, '1:00: OK 0 req, Failed 0 req'],
  ['ArrowRight', 3, '3:00: OK –, Failed –'],
  ['ArrowLeft', 0, '0:00: OK 10 req, Failed 5 req'],
  ['PageUp', 3, '0:00: OK 10 req, Failed 5 req'],
  ['PageDown', 0, '3:00: OK –, Failed –'],
  ['Home', 2, '0:00: OK 10 req, Failed 5 req'],
  ['End', 0, '3:00: OK –, Failed –'],
])('the key %s at the index %s', (key, initial, expected) => {
  open({ initial })
  const isUnhandled = fireEvent.keyDown(slider(), { key })
  expect(value()).toBe(expected)
  expect(isUnhandled).toBe(false)
  expect(tip()).not.toBeNull()
})

test.each([
  ['Escape', 1, false],
  ['Escape', null, true],
  ['a', 1, true],
])('the key %s at the index %s is left to the page: %s', (key, initial, isUnhandled) => {
  open({ initial })
  expect(fireEvent.keyDown(slider(), { key })).toBe(isUnhandled)
  expect(tip()).toBeNull()
})

test('pages of the keyboard are twelve values', () => {
  open({ count: 30, initial: 20 })
  fireEvent.keyDown(slider(), { key: 'PageUp' })
  expect(slider().getAttribute('aria-valuenow')).toBe('8')
  fireEvent.keyDown(slider(), { key: 'PageDown' })
  expect(slider().getAttribute('aria-valuenow')).toBe('20')
  expect(slider().getAttribute('aria-valuemax')).toBe('29')
})

test('the pointer shows the values of its column until it leaves', () => {
  const { text } = open({ events: new Map([[2, 'Deployed #3']]) })
  expect(tip()).toBeNull()
  expect(value()).toBe('3:00: OK –, Failed –')
  point(chartMargin + 299)
  expect(text()).toContain('2:00 Deployed #3 OK 30 req Failed 10 req')
  expect(tip()?.style.right).toBe(`${400 - 250 + 12}px`)
  point(chartMargin + 101)
  expect(text()).toContain('1:00 OK 0 req Failed 0 req')
  expect(tip()?.style.left).toBe(`${chartMargin + 150 + 12}px`)
  point(chartMargin + 400)
  expect(tip()).toBeNull()
  point(chartMargin)
  expect(value()).toBe('0:00: OK 10 req, Failed 5 req')
  point(chartMargin - 1)
  expect(tip()).toBeNull()
})

test.each([
  ['mouse', true],
  ['touch', false],
])('a %s that leaves hides the values: %s', (pointerType, isHidden) => {
  open()
  point(chartMargin + 50)
  fireEvent.pointerLeave(slider(), { pointerType })
  fireEvent.pointerOut(slider(), { pointerType })
  expect(tip() === null).toBe(isHidden)
})

test('the values are hidden when the focus leaves', () => {
  open()
  point(chartMargin + 50)
  fireEvent.blur(slider())
  expect(tip()).toBeNull()
})

test.each([
  [2, [[2], [2]]],
  [null, []],
])('at the index %s a click and Enter select %j', (initial, calls) => {
  const onSelect = vi.fn()
  open({ initial, onSelect })
  fireEvent.click(slider())
  fireEvent.keyDown(slider(), { key: 'Enter' })
  expect(onSelect.mock.calls).toEqual(calls)
  expect(slider().dataset.selectable).toBe('true')
})

test('a chart without a selection ignores clicks', () => {
  open({ initial: 2 })
  fireEvent.click(slider())
  fireEvent.keyDown(slider(), { key: 'Enter' })
  expect(slider().dataset.selectable).toBeUndefined()
})
const rectangles = () =>
  [...document.querySelectorAll('[role=slider] svg > g > rect')].map((one) =>
    ['x', 'y', 'width', 'height'].map((name) => Number(Number(one.getAttribute(name)).toFixed(3))),
  )

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

const period_ms = 12.4206 * 3_600_000
const firstHigh = Date.UTC(2026, 0, 3, 6, 20)
const at = (id) => document.getElementById(id)

/** -1 at low water, 1 at high water. */
const level = (time) => Math.cos((2 * Math.PI * (time - firstHigh)) / period_ms)

function wave(height, length, depth, shift) {
  const points = Array.from({ length: 61 }, (_, index) => {
    const x = index * 10
    return `${x},${(300 - height + Math.sin(x / length + shift) * depth).toFixed(1)}`
  })
  return `M0,300 L${points.join(' L')} L600,300 Z`
}

const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches
const [far, mid, near] = document.querySelectorAll('#sea path')

function draw(frame) {
  const height = 130 + level(Date.now()) * 80
  const beat = isStill ? 0 : frame / 1_000
  far.setAttribute('d', wave(height + 34, 70, 8, beat * 0.5))
  mid.setAttribute('d', wave(height + 12, 55, 10, -beat * 0.7 + 1))
  near.setAttribute('d', wave(height - 14, 46, 12, beat + 2))
  if (!isStill) requestAnimationFrame(draw)
}

function tell() {
  const now = Date.now()
  const isRising = level(now + 60_000) > level(now)
  at('word').textContent = isRising ? 'Rising' : 'Falling'
  const turns = Array.from({ length: 6 }, (_, index) => {
    const half = Math.floor((now - firstHigh) / (period_ms / 2)) + 1 + index
    return { isHigh: half % 2 === 0, time: new Date(firstHigh + half * (period_ms / 2)) }
  })
  const clock = new Intl.DateTimeFormat(undefined, { weekday: 'short', hour: '2-digit', minute: '2-digit' })
  const minutes = Math.round((turns[0].time - now) / 60_000)
  at('next').textContent = `${turns[0].isHigh ? 'High' : 'Low'} water in ${Math.floor(minutes / 60)} h ${minutes % 60} min`
  at('table').replaceChildren(
    ...turns.map(({ isHigh, time }) => {
      const row = document.createElement('tr')
      const name = document.createElement('th')
      name.scope = 'row'
      name.textContent = isHigh ? 'High water' : 'Low water'
      const when = document.createElement('td')
      when.textContent = clock.format(time)
      row.append(name, when)
      return row
    }),
  )
}

tell()
setInterval(tell, 30_000)
requestAnimationFrame(draw)

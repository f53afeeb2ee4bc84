import { expect, test } from 'vitest'
import { SlotSet, type Slotted } from '../../server/edge/slot-set.ts'
import { createSeededRandom } from '../support/seeded-random.ts'

test('has what a Set has, whatever comes and goes', () => {
  const random = createSeededRandom(7)
  const all: Slotted[] = Array.from({ length: 20 }, () => ({ slot: -1 }))
  const set = new SlotSet<Slotted>()
  const expected = new Set<Slotted>()
  for (let step = 0; step < 2_000; step++) {
    const element = all[random.between(0, all.length - 1)]!
    if (random.between(0, 1) === 0) {
      set.add(element)
      expected.add(element)
    } else {
      set.delete(element)
      expected.delete(element)
    }
    expect(set.size).toBe(expected.size)
    expect(new Set(set.values())).toEqual(expected)
  }
})

test('an element that is removed before its turn is not visited, as in a Set', () => {
  const all: Slotted[] = Array.from({ length: 4 }, () => ({ slot: -1 }))
  const set = new SlotSet<Slotted>()
  for (const element of all) set.add(element)
  const visited: Slotted[] = []
  for (const element of set.values()) {
    visited.push(element)
    set.delete(element)
    set.delete(all[2]!)
  }
  expect(visited.map((element) => all.indexOf(element))).toEqual([0, 1, 3])
  expect(set.size).toBe(0)
})

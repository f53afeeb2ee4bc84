/** Every part of `npm run bench`, as small as possible: the figures are meaningless, but each runs to its end. */
import { rmSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { parts } from '../bench/parts.ts'
import type { BenchRow } from '../bench/row.ts'
import { createBenchStore } from '../bench/store.ts'
import { requires } from '../support/requirements.ts'

let made: Promise<{ data: string }> | undefined
const store = async () => (await (made ??= createBenchStore({ deployments: 12_000 }))).data
afterAll(async () => {
  if (made) rmSync((await made).data, { recursive: true, force: true })
})

/** Reasons of rows without a value: missing programs, and features that a peer does not have. */
const missingRequirement = /not installed|cannot|Docker|docker/
const missingPeerFeature = /has no cache|knows no tags/

/** The cases of long parts: a development server that updates its page, one that reloads it, and one without a build. */
const cases: Record<string, string[]> = { dev: ['vite-react', 'nextjs', 'express'] }

test.for(Object.keys(parts))('%s', { timeout: 600_000 }, async (name, { skip }) => {
  skip(name === 'dashboard' && !requires('chromium').ok)
  const rows = (await parts[name]?.({ rounds: 1, seconds: 1, turns: 12, count: 6, far_page: 10, store, cases: cases[name] })) ?? []
  expect(rows.filter(({ who }) => who === 'homeport').length).toBeGreaterThan(0)
  const isExcused = ({ who, note = '' }: BenchRow) => missingRequirement.test(note) || (who !== 'homeport' && missingPeerFeature.test(note))
  expect(rows.filter((row) => (row.value === null ? !isExcused(row) : Number.isNaN(row.value)))).toEqual([])
})

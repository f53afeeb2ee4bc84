import type { HelpTopic } from '../contract/help.ts'
import { type Block, type Topic, groups } from './topic.ts'
import { begin } from './topics/begin.ts'
import { deploy } from './topics/deploy.ts'
import { keep } from './topics/keep.ts'
import { names } from './topics/names.ts'
import { run } from './topics/run.ts'

const byGroup: Record<keyof typeof groups, Topic[]> = { begin, deploy, run, names, keep }

export const shelves = (Object.keys(byGroup) as (keyof typeof groups)[]).map((group) => ({ heading: groups[group], topics: byGroup[group] }))
export const topics: Topic[] = shelves.flatMap((shelf) => shelf.topics)

export function findTopic(id: string): Topic | undefined {
  return topics.find((topic) => topic.id === id)
}

const texts = new Map<HelpTopic, string>()

/** Topics in which every word occurs, those that bear it in their title first; `isNear`: not those that only mention it. */
export function searchTopics(query: string, isNear = false): Topic[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return topics
  return topics
    .map((topic) => ({ topic, score: scoreOf(topic, words, isNear) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .map(({ topic }) => topic)
}

function scoreOf(topic: Topic, words: string[], isNear: boolean): number {
  const title = topic.title.toLowerCase()
  const head = `${title} ${topic.id} ${topic.about} ${topic.also}`.toLowerCase()
  let whole = texts.get(topic.id)
  if (whole === undefined) texts.set(topic.id, (whole = `${head} ${topic.body.map(textOf).join(' ')}`.toLowerCase()))
  const scores = words.map((word) => (title.includes(word) ? 9 : head.includes(word) ? 4 : !isNear && whole.includes(word) ? 1 : 0))
  return scores.includes(0) ? 0 : scores.reduce<number>((total, score) => total + score, 0)
}

/** What a block says, for a search. */
export function textOf(block: Block): string {
  if (typeof block === 'string') return block
  if ('h' in block) return block.h
  if ('list' in block) return block.list.join(' ')
  if ('steps' in block) return block.steps.join(' ')
  return `${block.run} ${block.note ?? ''}`
}

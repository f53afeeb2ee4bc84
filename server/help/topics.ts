import type { HelpTopic } from '../contract/help.ts'
import { type HelpBlock, type HelpArticle, topicGroups } from './topic.ts'
import { gettingStartedTopics } from './topics/getting-started.ts'
import { clusterTopics } from './topics/cluster.ts'
import { configurationTopics } from './topics/configuration.ts'
import { developmentTopics } from './topics/development.ts'
import { deployingTopics } from './topics/deploying.ts'
import { instanceTopics } from './topics/instance.ts'
import { projectSettingsTopics } from './topics/project-settings.ts'
import { networkingTopics } from './topics/networking.ts'
import { runningTopics } from './topics/running.ts'
import { tracingTopics } from './topics/tracing.ts'
import { serviceTopics } from './topics/services.ts'

const topicsByGroup: Record<keyof typeof topicGroups, HelpArticle[]> = {
  begin: gettingStartedTopics,
  deploy: [...deployingTopics, ...projectSettingsTopics, ...serviceTopics, ...configurationTopics],
  run: [...developmentTopics, ...runningTopics, ...tracingTopics],
  names: networkingTopics,
  keep: [...instanceTopics, ...clusterTopics],
}

export const topicSections = (Object.keys(topicsByGroup) as (keyof typeof topicGroups)[]).map((group) => ({
  heading: topicGroups[group],
  topics: topicsByGroup[group],
}))
export const topics: HelpArticle[] = topicSections.flatMap((section) => section.topics)

export function findTopic(id: string): HelpArticle | undefined {
  return topics.find((topic) => topic.id === id)
}

const searchTexts = new Map<HelpTopic, string>()

/** Finds topics that contain every word, best match first. With `excludesBody` only title, id, summary and keywords are searched. */
export function searchTopics(query: string, excludesBody = false): HelpArticle[] {
  const searchWords = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (searchWords.length === 0) return topics
  return topics
    .map((topic) => ({ topic, score: scoreTopic(topic, searchWords, excludesBody) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .map(({ topic }) => topic)
}

function scoreTopic(topic: HelpArticle, searchWords: string[], excludesBody: boolean): number {
  const title = topic.title.toLowerCase()
  const headText = `${title} ${topic.id} ${topic.summary} ${topic.keywords}`.toLowerCase()
  let fullText = searchTexts.get(topic.id)
  if (fullText === undefined) searchTexts.set(topic.id, (fullText = `${headText} ${topic.body.map(readBlockText).join(' ')}`.toLowerCase()))
  const scores = searchWords.map((word) =>
    title.includes(word) ? 9 : headText.includes(word) ? 4 : !excludesBody && fullText.includes(word) ? 1 : 0,
  )
  return scores.includes(0) ? 0 : scores.reduce<number>((total, score) => total + score, 0)
}

/** The text of a block, for search. */
export function readBlockText(block: HelpBlock): string {
  if (typeof block === 'string') return block
  if ('h' in block) return block.h
  if ('list' in block) return block.list.join(' ')
  if ('steps' in block) return block.steps.join(' ')
  if ('file' in block) return `${block.file} ${block.text}`
  return `${block.run} ${block.note ?? ''}`
}

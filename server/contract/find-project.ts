import type { Project } from './projects.ts'

type Sought = Pick<Project, 'name' | 'slug' | 'repo_url'>
const texts = new WeakMap<Sought, string>()

/** Whether each of the words is in the name, the slug or the repository. A project's text is made once: ten thousand are asked at every key. */
export function isFound(project: Sought, words: readonly string[]): boolean {
  let text = texts.get(project)
  if (text === undefined) {
    text = textOf(project)
    texts.set(project, text)
  }
  return hasWords(text, words)
}

/** The same of one that is looked at once: to keep its text would cost more than the search. */
export function isFoundOnce(project: Sought, words: readonly string[]): boolean {
  return hasWords(textOf(project), words)
}

export function wordsOf(query: string): string[] {
  return query.toLowerCase().split(/\s+/).filter(Boolean)
}

const textOf = ({ name, slug, repo_url }: Sought): string => `${name}\n${slug}\n${repo_url ?? ''}`.toLowerCase()

function hasWords(text: string, words: readonly string[]): boolean {
  for (const word of words) if (!text.includes(word)) return false
  return true
}

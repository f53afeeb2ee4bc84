import type { Project } from './projects.ts'

type SearchableProject = Pick<Project, 'name' | 'slug' | 'repo_url'>
const searchTextCache = new WeakMap<SearchableProject, string>()

/** Whether every word is in the name, the slug or the repository URL. The search text is cached, because each keystroke searches up to ten thousand projects. */
export function isMatch(project: SearchableProject, words: readonly string[]): boolean {
  let text = searchTextCache.get(project)
  if (text === undefined) {
    text = searchTextOf(project)
    searchTextCache.set(project, text)
  }
  return includesAllWords(text, words)
}

/** `isMatch` for projects that are searched only once, for which caching would cost more than the search. */
export function isMatchUncached(project: SearchableProject, words: readonly string[]): boolean {
  return includesAllWords(searchTextOf(project), words)
}

export function splitSearchWords(query: string): string[] {
  return query.toLowerCase().split(/\s+/).filter(Boolean)
}

const searchTextOf = ({ name, slug, repo_url }: SearchableProject): string => `${name}\n${slug}\n${repo_url ?? ''}`.toLowerCase()

function includesAllWords(text: string, words: readonly string[]): boolean {
  for (const word of words) if (!text.includes(word)) return false
  return true
}

import type { Project } from './projects.ts'

type Sought = Pick<Project, 'name' | 'slug' | 'repo_url'>
const texts = new WeakMap<Sought, string>()

/** Whether each of the words is in the name, the slug or the repository. A project's text is made once: ten thousand are asked at every key. */
export function isFound(project: Sought, words: readonly string[]): boolean {
  let text = texts.get(project)
  if (text === undefined) {
    text = `${project.name}\n${project.slug}\n${project.repo_url ?? ''}`.toLowerCase()
    texts.set(project, text)
  }
  for (const word of words) if (!text.includes(word)) return false
  return true
}

export function wordsOf(query: string): string[] {
  return query.toLowerCase().split(/\s+/).filter(Boolean)
}

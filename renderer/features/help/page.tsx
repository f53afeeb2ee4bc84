import { BookOpen, Keyboard, ListChecks, Search, SearchX } from 'lucide-react'
import { useRef } from 'react'
import { Link, useLocation, useSearchParams } from 'wouter'
import { basePath } from '../../lib/instance-path.ts'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/feedback.tsx'
import { useTitle } from '../../lib/use-title.ts'
import { useKeyboard } from '../../stores/keyboard.ts'
import { useTour } from '../../stores/tour.ts'
import { searchTopics, topicSections } from '../../../server/help/topics.ts'
import styles from './page.module.css'

/** All help topics by task, with search. */
export default function HelpPage() {
  useTitle('Help')
  const [params, setParams] = useSearchParams()
  const [, navigate] = useLocation()
  const list = useRef<HTMLDivElement>(null)
  const query = params.get('q') ?? ''
  const results = query.trim() === '' ? null : searchTopics(query)
  const setSheetOpen = useKeyboard((state) => state.setShortcutsOpen)
  const tour = useTour()
  return (
    <div className="page">
      <header className="page-header">
        <h1>Help</h1>
        <div className="page-actions">
          <Button icon={ListChecks} onClick={() => (tour.reopen(), navigate(`~${basePath}/`))}>
            First steps
          </Button>
          <Button icon={Keyboard} onClick={() => setSheetOpen(true)}>
            Keyboard
          </Button>
        </div>
      </header>
      <form
        className={`search ${styles.helpSearch}`}
        role="search"
        onSubmit={(event) => {
          event.preventDefault()
          list.current?.querySelector('a')?.click()
        }}
      >
        <Search size={16} aria-hidden />
        <input
          className="input"
          type="search"
          aria-label="Search help"
          placeholder="Describe a problem or enter an error code"
          value={query}
          onChange={({ target }) => setParams(target.value === '' ? {} : { q: target.value }, { replace: true })}
        />
      </form>
      <div ref={list} className={styles.helpList}>
        {results === null ? (
          topicSections.map(({ heading, topics }) => (
            <section key={heading} aria-label={heading}>
              <h2>{heading}</h2>
              <Topics topics={topics} />
            </section>
          ))
        ) : results.length > 0 ? (
          <section aria-label="Results">
            <h2>
              {results.length === 1 ? '1 topic' : `${results.length} topics`} for “{query.trim()}”
            </h2>
            <p className="visually-hidden" role="status">
              {results.length === 1 ? '1 topic' : `${results.length} topics`}
            </p>
            <Topics topics={results} />
          </section>
        ) : (
          <div className="card">
            <EmptyState
              icon={SearchX}
              title="No matching topics"
              action={<Button onClick={() => setParams({}, { replace: true })}>Show all topics</Button>}
            >
              Try fewer words, or run <code>npx homeport doctor</code> to check everything.
            </EmptyState>
          </div>
        )}
      </div>
      <p className={`text-subtle ${styles.helpFoot}`}>
        <BookOpen size={14} aria-hidden /> API reference: <a href="/docs">/docs</a>. Command reference: <code>npx homeport --help</code>.
      </p>
    </div>
  )
}

function Topics({ topics }: { topics: readonly { id: string; title: string; summary: string }[] }) {
  return (
    <ul className={`card ${styles.helpTopics}`}>
      {topics.map(({ id, title, summary }) => (
        <li key={id}>
          <Link href={`/help/${id}`} className={styles.helpTopic}>
            {title}
          </Link>
          <p className="text-muted">{summary}</p>
        </li>
      ))}
    </ul>
  )
}

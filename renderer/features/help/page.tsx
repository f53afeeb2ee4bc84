import { BookOpen, Keyboard, ListChecks, Search, SearchX } from 'lucide-react'
import { useRef } from 'react'
import { Link, useLocation, useSearchParams } from 'wouter'
import { base } from '../../stores/address.ts'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/feedback.tsx'
import { useTitle } from '../frame/title.ts'
import { useKeyboard } from '../keyboard/store.ts'
import { useTour } from '../tour/store.ts'
import { searchTopics, shelves } from '../../../server/help/topics.ts'
import './page.css'

/** All topics, by what one wants to do; a few letters find one. */
export default function HelpPage() {
  useTitle('Help')
  const [params, setParams] = useSearchParams()
  const [, go] = useLocation()
  const list = useRef<HTMLDivElement>(null)
  const query = params.get('q') ?? ''
  const found = query.trim() === '' ? null : searchTopics(query)
  const setSheetOpen = useKeyboard((state) => state.setSheetOpen)
  const tour = useTour()
  return (
    <div className="page help">
      <header className="page-head">
        <h1>Help</h1>
        <div className="page-actions">
          <Button icon={ListChecks} onClick={() => (tour.bringBack(), go(`~${base}/`))}>
            First steps
          </Button>
          <Button icon={Keyboard} onClick={() => setSheetOpen(true)}>
            Keyboard
          </Button>
        </div>
      </header>
      <form
        className="search help-search"
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
          placeholder="What is wrong, or an error code"
          value={query}
          onChange={({ target }) => setParams(target.value === '' ? {} : { q: target.value }, { replace: true })}
        />
      </form>
      <div ref={list} className="help-list">
        {found === null ? (
          shelves.map(({ heading, topics }) => (
            <section key={heading} aria-label={heading}>
              <h2>{heading}</h2>
              <Topics topics={topics} />
            </section>
          ))
        ) : found.length > 0 ? (
          <section aria-label="Found">
            <h2>
              {found.length === 1 ? '1 page' : `${found.length} pages`} for “{query.trim()}”
            </h2>
            <p className="unseen" role="status">
              {found.length === 1 ? '1 page' : `${found.length} pages`}
            </p>
            <Topics topics={found} />
          </section>
        ) : (
          <div className="card">
            <Empty
              icon={SearchX}
              title="No page has these words"
              action={<Button onClick={() => setParams({}, { replace: true })}>Show all pages</Button>}
            >
              Try fewer of them, or run <code>npx homeport doctor</code>, which looks at everything.
            </Empty>
          </div>
        )}
      </div>
      <p className="faint help-foot">
        <BookOpen size={14} aria-hidden /> The API is described at <a href="/docs">/docs</a>, every command by <code>npx homeport --help</code>.
      </p>
    </div>
  )
}

function Topics({ topics }: { topics: readonly { id: string; title: string; about: string }[] }) {
  return (
    <ul className="card help-topics">
      {topics.map(({ id, title, about }) => (
        <li key={id}>
          <Link href={`/help/${id}`} className="help-topic">
            {title}
          </Link>
          <p className="quiet">{about}</p>
        </li>
      ))}
    </ul>
  )
}

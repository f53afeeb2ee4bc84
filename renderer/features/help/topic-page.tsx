import { ChevronLeft } from 'lucide-react'
import { useEffect } from 'react'
import { Link, useParams } from 'wouter'
import { NotFound } from '../frame/not-found.tsx'
import { useTitle } from '../frame/title.ts'
import { KeyboardList } from '../keyboard/sheet.tsx'
import { Article } from './article.tsx'
import { findTopic, shelves } from '../../../server/help/topics.ts'
import './page.css'

/** One article, and beside it what else is on its shelf. */
export default function HelpTopicPage() {
  const { topic: id = '' } = useParams()
  const topic = findTopic(id)
  useTitle(topic ? `${topic.title} · Help` : 'Help')
  useEffect(() => {
    window.scrollTo({ top: 0 })
  }, [id])
  if (!topic) return <NotFound />
  const shelf = shelves.find(({ topics }) => topics.includes(topic))
  return (
    <div className="page help">
      <Link href="/help" className="help-back">
        <ChevronLeft size={15} aria-hidden /> All help
      </Link>
      <div className="help-topic-page">
        <article aria-labelledby="topic">
          <h1 id="topic">{topic.title}</h1>
          <p className="help-about">{topic.about}</p>
          <Article blocks={topic.body} />
          {topic.id === 'keyboard' && <KeyboardList heading="h2" />}
        </article>
        {shelf && (
          <nav className="help-beside" aria-label={shelf.heading}>
            <h2>{shelf.heading}</h2>
            <ul>
              {shelf.topics.map(({ id: other, title }) => (
                <li key={other}>
                  <Link href={`/help/${other}`} aria-current={other === topic.id ? 'page' : undefined}>
                    {title}
                  </Link>
                </li>
              ))}
            </ul>
          </nav>
        )}
      </div>
    </div>
  )
}

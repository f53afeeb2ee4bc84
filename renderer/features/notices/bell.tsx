import { Bell, CircleAlert, CircleCheck, Info } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { useConnection } from '../../stores/connection.ts'
import { IconButton } from '../../ui/button.tsx'
import { calm } from '../../ui/calm.ts'
import { landmark } from '../../ui/menu.tsx'
import { Ago } from '../../ui/time.tsx'
import { type Notice, boardOf, useNotices } from './store.ts'
import './bell.css'

/** What ended while one looked elsewhere, with the way there. */
export function NoticeBell({ align }: { align: 'start' | 'end' }) {
  const instance = useConnection((state) => state.current.id)
  const { notices, unread } = useNotices(({ boards }) => boardOf(boards, instance))
  const read = useNotices((state) => state.read)
  const [isOpen, setOpen] = useState(false)
  const [, go] = useLocation()
  const turn = (open: boolean) => {
    setOpen(open)
    if (!open) read(instance)
  }
  return (
    <DropdownMenu.Root modal={false} open={isOpen} onOpenChange={turn}>
      <span className="bell">
        <DropdownMenu.Trigger asChild>
          <IconButton icon={Bell} label={unread > 0 ? `Notices: ${unread} new` : 'Notices'} />
        </DropdownMenu.Trigger>
        {unread > 0 && (
          <span className="bell-count" aria-hidden>
            {unread > 9 ? '9+' : unread}
          </span>
        )}
      </span>
      <DropdownMenu.Portal container={landmark()}>
        <DropdownMenu.Content className="menu notices" align={align} sideOffset={6} collisionPadding={8} aria-label="Notices">
          {notices.length === 0 && (
            <DropdownMenu.Item disabled className="notices-none quiet">
              Nothing to tell. Deployments, crashes, domains and previews report here when you look elsewhere, and so does this instance when it needs
              you.
            </DropdownMenu.Item>
          )}
          {notices.map((notice, index) => (
            <DropdownMenu.Item
              key={notice.id}
              className={`menu-item notice notice-${notice.is_quiet ? 'quiet' : notice.kind} ${index < unread ? 'notice-new' : ''}`}
              onSelect={() => go(notice.path)}
            >
              <Sign notice={notice} />
              <span className="notice-words">
                <strong className="clip">{calm(notice.title)}</strong>
                <span className="quiet notice-text">{calm(notice.text)}</span>
                {notice.todo && <span className="notice-todo">{calm(notice.todo)}</span>}
                <span className="faint">
                  <Ago at={notice.at} />
                  {index < unread && <span className="unseen">, new</span>}
                </span>
              </span>
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

function Sign({ notice: { kind, is_quiet } }: { notice: Notice }) {
  const Icon = is_quiet ? Info : kind === 'done' ? CircleCheck : CircleAlert
  return <Icon size={16} aria-hidden />
}

/** Said aloud to those who listen; once, wherever the bell hangs. */
export function NoticeVoice() {
  const instance = useConnection((state) => state.current.id)
  const newest = useNotices(({ boards }) => (boardOf(boards, instance).unread > 0 ? boardOf(boards, instance).notices[0]?.title : undefined))
  return (
    <p className="unseen" role="status">
      {newest && calm(newest)}
    </p>
  )
}

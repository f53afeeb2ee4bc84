// Script of /sign-in, /verify and /join: stores the session of such a page in the storage of this origin, which no app on another port can
// read, or submits the form of a link that the user opened.
const session = document.getElementById('session')?.value
if (session) {
  localStorage.setItem('homeport.session', session)
  location.replace('/app/')
} else document.querySelector('form[data-sends-itself]')?.requestSubmit()

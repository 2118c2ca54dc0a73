'use strict';
(() => {
  const token = new URLSearchParams(location.search).get('token') || '';
  const by = id => document.getElementById(id);
  const SVG = 'http://www.w3.org/2000/svg';

  // Text of others goes in as text alone.
  const element = (tag, text, className) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  };
  const set = (of, text) => { if (of.textContent !== text) of.textContent = text; };
  const number = value => Math.round(value).toLocaleString('en');
  const duration = seconds => {
    const s = Math.max(0, Math.round(seconds));
    const two = n => String(n).padStart(2, '0');
    if (s < 60) return `${s}s`;
    if (s < 3600) return `${Math.floor(s / 60)}m ${two(s % 60)}s`;
    return `${Math.floor(s / 3600)}h ${two(Math.floor(s % 3600 / 60))}m`;
  };
  const latency = us => us < 1000 ? `${us} us` : us < 1e6 ? `${(us / 1e3).toFixed(2)} ms` : `${(us / 1e6).toFixed(2)} s`;

  const notice = text => { by('notice').hidden = !text; set(by('notice'), text); };

  // Commands: the token goes in a header, which no page of another site can send.
  const send = async command => {
    try {
      const answer = await fetch(command, { method: 'POST', headers: { 'X-Iopslab-Token': token } });
      notice(answer.ok ? '' : await answer.text());
    } catch {
      notice('The run does not answer: it may have ended.');
    }
  };
  for (const command of ['pause', 'stop', 'resume']) by(command).addEventListener('click', () => send(`/${command}`));

  // Charts: one polyline over the seconds of a trial, and where measurement began.
  const charts = [
    ['Operations/s', second => second[1], number],
    ['p99', second => second[3], latency],
    ['Volume IOPS', second => second[4], number],
  ];
  const draw = (svg, points) => {
    svg.replaceChildren();
    if (points.length < 2) return;
    const first = points[0][0], last = points[points.length - 1][0];
    const most = Math.max(...points.map(point => point[1]), 1);
    const x = t => 300 * (t - first) / Math.max(last - first, 1);
    const y = value => 98 - 94 * value / most;
    if (first < 0) {
      const line = document.createElementNS(SVG, 'line');
      for (const [name, value] of [['x1', x(0)], ['x2', x(0)], ['y1', 0], ['y2', 100]]) line.setAttribute(name, value);
      svg.append(line);
    }
    const drawn = document.createElementNS(SVG, 'polyline');
    drawn.setAttribute('points', points.map(([t, value]) => `${x(t).toFixed(1)},${y(value).toFixed(1)}`).join(' '));
    svg.append(drawn);
  };

  const sites = new Map();
  const site = name => {
    if (!sites.has(name)) {
      const all = element('div');
      const of = { head: element('h3'), doing: element('p', '', 'soft'), next: element('p', '', 'soft'), figures: [] };
      const row = element('div', undefined, 'now');
      for (const [title] of charts) {
        const chart = element('div');
        const figure = { now: element('b'), most: element('small'), svg: document.createElementNS(SVG, 'svg') };
        figure.svg.setAttribute('viewBox', '0 0 300 100');
        figure.svg.setAttribute('preserveAspectRatio', 'none');
        figure.svg.setAttribute('role', 'img');
        figure.svg.setAttribute('aria-label', `${title}, second by second`);
        chart.append(element('h4', title), figure.now, ' ', figure.most, figure.svg);
        row.append(chart);
        of.figures.push(figure);
      }
      all.append(of.head, of.doing, row, of.next);
      by('sites').append(all);
      sites.set(name, of);
    }
    return sites.get(name);
  };
  const showSite = ({ name, doing, trial, next }) => {
    const of = site(name);
    const which = trial ? `${trial.cell} block ${trial.block}${trial.over ? ', which is over' : ''}` : 'no trial yet';
    set(of.head, name ? `${name}: ${which}` : which);
    set(of.doing, doing);
    set(of.next, next.length ? `Next: ${next.join(', ')}` : '');
    const seconds = trial ? trial.seconds : [];
    charts.forEach(([, value, shown], n) => {
      const points = seconds.map(second => [second[0], value(second)]).filter(point => point[1] !== null);
      const figure = of.figures[n];
      set(figure.now, points.length ? shown(points[points.length - 1][1]) : '-');
      set(figure.most, points.length ? `of at most ${shown(Math.max(...points.map(point => point[1])))}` : '');
      draw(figure.svg, points);
    });
  };

  // Rows stay the same elements, so that the keyboard's focus stays where it is.
  const rows = [];
  const row = n => {
    while (rows.length <= n) {
      const index = rows.length;
      const of = { row: element('tr'), name: element('th', '', 't'), cells: [], button: element('button') };
      of.name.scope = 'row';
      of.button.type = 'button';
      of.button.addEventListener('click', () => send(`/${of.command}?cell=${index}`));
      for (const className of ['t', 'num', 'num']) of.cells.push(element('td', '', className));
      const last = element('td', undefined, 't');
      last.append(of.button);
      of.row.append(of.name, ...of.cells, last);
      by('cells').append(of.row);
      rows.push(of);
    }
    return rows[n];
  };
  const showCell = (cell, n, isOver) => {
    const of = row(n);
    const wish = cell.wish === true ? ', will be skipped' : cell.wish === false ? ', will be measured' : '';
    const invalid = cell.invalid ? `, ${cell.invalid} invalid` : '';
    const willBeSkipped = cell.wish === null ? cell.skipped : cell.wish;
    of.row.className = cell.stands.replace(' ', '-');
    of.command = willBeSkipped ? 'take-up' : 'skip';
    set(of.name, cell.cell);
    set(of.cells[0], cell.stands + wish);
    set(of.cells[1], `${cell.done} of ${cell.planned}${invalid}`);
    set(of.cells[2], cell.ops_per_s === null ? '-' : number(cell.ops_per_s));
    set(of.button, willBeSkipped ? 'Take up again' : 'Skip');
    of.button.setAttribute('aria-label', `${of.button.textContent}: ${cell.cell}`);
    of.button.hidden = isOver || cell.stands === 'done';
  };

  let state = null, heard = 0;
  const showProgress = () => {
    if (!state) return;
    const passed = state.paused ? 0 : (performance.now() - heard) / 1000;
    const left = state.left_s === null || state.ended ? '' : `, about ${duration(state.left_s - passed)} left`;
    const invalid = state.invalid ? `, ${state.invalid} invalid` : '';
    const ended = state.ended ? ` ${state.ended}` : '';
    set(by('progress'), `${state.done} of ${state.planned} trials are done${invalid}${left}.${ended}`);
  };
  setInterval(showProgress, 1000);

  const showState = now => {
    [state, heard] = [now, performance.now()];
    set(by('run'), state.run || 'no run yet');
    set(by('watchers'), state.watchers > 1 ? `, ${state.watchers} browsers watch` : '');
    const question = by('question');
    set(question, state.question || '');
    // The report's own head has it.
    question.hidden = !state.question || by('so-far').querySelector('header') !== null;
    by('share').value = state.planned ? state.done / state.planned : 0;
    const isOver = state.ended !== null;
    const isWished = state.paused || state.stopping;
    for (const command of ['pause', 'stop']) by(command).hidden = isOver || state.stopping || (command === 'pause' && state.paused);
    by('resume').hidden = isOver || !isWished;
    set(by('wished'), isOver ? '' : state.stopping ? 'The run ends after this trial.' : state.paused ? 'No further trial begins until Resume.' : '');
    state.sites.forEach(showSite);
    state.cells.forEach((cell, n) => showCell(cell, n, isOver));
    showProgress();
  };

  // What was unfolded stays so in the next report.
  const folds = () => {
    const seen = new Map();
    return [...document.querySelectorAll('#so-far details, #evidence details')].map(fold => {
      const title = fold.querySelector('summary')?.textContent || '';
      const times = (seen.get(title) || 0) + 1;
      seen.set(title, times);
      return [`${title} ${times}`, fold];
    });
  };
  const showReport = html => {
    const open = new Map(folds().map(([key, fold]) => [key, fold.open]));
    // The report of this program, which has escaped what others have written.
    const parsed = element('template');
    parsed.innerHTML = html;
    const head = parsed.content.querySelector('header');
    if (head) by('so-far').replaceChildren(head);
    by('evidence').replaceChildren(parsed.content);
    for (const [key, fold] of folds()) if (open.has(key)) fold.open = open.get(key);
  };

  const events = new EventSource(`/events?token=${encodeURIComponent(token)}`);
  events.addEventListener('state', event => {
    showState(JSON.parse(event.data));
    if (state.ended) {
      events.close();
      document.title = 'iopslab, ended';
    }
  });
  events.addEventListener('open', () => notice(''));
  events.addEventListener('report', event => showReport(JSON.parse(event.data).html));
  events.addEventListener('error', () => {
    notice(events.readyState === EventSource.CLOSED
      ? 'The run cannot be watched: the address is not that of this run, or as many browsers watch as may.'
      : 'The connection is lost: the run may have ended. The browser tries again.');
  });
})();

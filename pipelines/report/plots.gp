# The report's plots, as SVG without a background: gnuplot -c plots.gp DIR SIZE, DIR/*.tsv to DIR/*.svg;
# those whose numbers are not there are left out. SIZE is that of the draft vocabulary, or 0.
# Black is turned into the page's own colour afterwards; the others are read on light and on dark.
dir = ARG1
have(name) = system("test -s ".dir."/".name.".tsv && echo yes") eq "yes"
set terminal svg size 560,300 noenhanced font "sans-serif,12"
set datafile separator "\t"
set border 3
set tics nomirror out
set grid ytics linewidth 0.5 dashtype 2
set key top right noautotitle
blue = 0x3b7dd8; orange = 0xe08a1e; grey = 0x8a8f98; red = 0xd0463b; green = 0x2f9e63
set style fill solid 0.9 noborder
set boxwidth 0.75

set xtics rotate by -35
set yrange [0:*]
if (have("lengths")) {
	set output dir."/lengths.svg"
	set ylabel "records"
	plot dir."/lengths.tsv" using 0:2:xtic(1) with boxes linecolor rgb blue
}

set style data histograms
set style histogram rowstacked
set key outside right top
if (have("masks")) {
	set output dir."/masks.svg"
	set ylabel "million tokens"
	plot dir."/masks.tsv" using ($3/1e6):xtic(1) title "trained" linecolor rgb blue, \
	     "" using ($2/1e6) title "context" linecolor rgb grey
}

if (have("ends")) {
	set output dir."/ends.svg"
	set ylabel "% of answers"
	set yrange [0:100]
	plot dir."/ends.tsv" using 2:xtic(1) title "ok" linecolor rgb green, \
	     "" using 3 title "cut" linecolor rgb orange, \
	     "" using 4 title "other" linecolor rgb grey, \
	     "" using 5 title "rejected" linecolor rgb red
}

set key bottom right inside
set style data linespoints
if (have("coverage")) {
	set output dir."/coverage.svg"
	set logscale x 2
	set xlabel "draft vocabulary"
	set ylabel "% of tokens covered"
	set yrange [*:100]
	set xtics norotate (1000, 2000, 4000, 8000, 16000, 32000, 64000, 128000)
	if (ARG2 > 0) { set arrow 1 from ARG2+0, graph 0 to ARG2+0, graph 1 nohead dashtype 2 linewidth 1.5 linecolor rgb orange }
	plot dir."/coverage.tsv" using 1:($3*100) title "trained" linecolor rgb blue pointtype 7 pointsize 0.4, \
	     "" using 1:($5*100) title "all" linecolor rgb grey pointtype 7 pointsize 0.4
	unset arrow
	unset logscale
}

if (have("pace")) {
	set output dir."/pace.svg"
	set key top right inside
	set xtics norotate autofreq
	set xlabel "hours since the first note"
	set ylabel "records a second"
	set yrange [0:*]
	of(kind, value) = strcol(2) eq kind ? value : 1/0
	plot dir."/pace.tsv" using 1:(of("short", $3)) title "short answers" with points pointtype 7 pointsize 0.4 linecolor rgb blue, \
	     "" using 1:(of("long", $3)) title "long answers" with points pointtype 7 pointsize 0.4 linecolor rgb orange, \
	     "" using 1:(of("states", $3)) title "states" with points pointtype 7 pointsize 0.4 linecolor rgb green
}
